// Takes the place of the host's clock and timers, on a time that moves only when it is told.
// A delay is taken as hosts take it: as a signed 32-bit integer, and what is below one as none.
(() => {
    const real = {
        setTimeout: globalThis.setTimeout,
        clearTimeout: globalThis.clearTimeout,
    };
    let time = 0;
    let ids = 0;
    let timers = [];
    const delays = [];

    globalThis.setTimeout = (callback, delay) => {
        delays.push(delay);
        ids += 1;
        timers.push({ id: ids, at: time + Math.max(delay | 0, 0), callback });
        return ids;
    };
    globalThis.clearTimeout = (id) => {
        timers = timers.filter((timer) => timer.id !== id);
    };
    performance.now = () => time;

    return {
        // Moves time to the next timer, or `early` milliseconds short of it, and fires it.
        fire(early) {
            timers.sort((a, b) => a.at - b.at);
            const timer = timers.shift();
            if (timer === undefined) return false;
            time = timer.at - early;
            timer.callback();
            return true;
        },
        set_now(now) {
            time = now;
        },
        armed: () => timers.length,
        delays: () => delays.slice(),
        restore() {
            globalThis.setTimeout = real.setTimeout;
            globalThis.clearTimeout = real.clearTimeout;
            // What stood there was inherited.
            delete performance.now;
        },
    };
})()
