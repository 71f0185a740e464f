//! The picture of a hung primary: latency over time. The letters come with the program, so the
//! picture is the same on every machine.

use std::convert::Infallible;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use std::time::Duration;

use embedded_graphics::draw_target::DrawTarget;
use embedded_graphics::geometry::{OriginDimensions, Point, Size};
use embedded_graphics::mono_font::ascii::FONT_9X15;
use embedded_graphics::mono_font::{MonoTextStyle, MonoTextStyleBuilder};
use embedded_graphics::pixelcolor::{Rgb888, RgbColor};
use embedded_graphics::prelude::{Drawable, Pixel, Primitive, WebColors};
use embedded_graphics::primitives::{Circle, Line, PrimitiveStyle, Rectangle};
use embedded_graphics::text::{Alignment, Text};

use crate::hang::{Calls, END, HANGS, Seen, TIMEOUT};

const SIZE: Size = Size::new(900, 420);
/// The field of the plot: left, top, right, bottom.
const FIELD: [i32; 4] = [80, 50, 860, 360];
/// The powers of ten of a nanosecond that the axis of latencies spans.
const DECADES: std::ops::Range<u32> = 2..9;
const OURS: Rgb888 = Rgb888::CSS_SEA_GREEN;
const THEIRS: Rgb888 = Rgb888::CSS_INDIAN_RED;

/// A canvas of pixels, three bytes each.
struct Canvas(Vec<u8>);

impl OriginDimensions for Canvas {
    fn size(&self) -> Size {
        SIZE
    }
}

impl DrawTarget for Canvas {
    type Color = Rgb888;
    type Error = Infallible;

    fn draw_iter<I>(&mut self, pixels: I) -> Result<(), Infallible>
    where
        I: IntoIterator<Item = Pixel<Rgb888>>,
    {
        for Pixel(at, colour) in pixels {
            let (Ok(x), Ok(y)) = (usize::try_from(at.x), usize::try_from(at.y)) else { continue };
            let (width, height) = (SIZE.width as usize, SIZE.height as usize);
            if x < width && y < height {
                let from = (y * width + x) * 3;
                self.0[from..from + 3].copy_from_slice(&[colour.r(), colour.g(), colour.b()]);
            }
        }
        Ok(())
    }
}

/// Draws what was seen into a PNG file.
///
/// # Errors
///
/// Those of writing the file.
pub fn draw(seen: &Seen, file: &Path) -> io::Result<()> {
    let mut canvas = Canvas(vec![255; (SIZE.width * SIZE.height * 3) as usize]);
    let Ok(()) = plot(seen, &mut canvas);
    let mut encoder =
        png::Encoder::new(BufWriter::new(File::create(file)?), SIZE.width, SIZE.height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::High);
    encoder.write_header()?.write_image_data(&canvas.0)?;
    Ok(())
}

fn plot(seen: &Seen, canvas: &mut Canvas) -> Result<(), Infallible> {
    let [left, top, right, bottom] = FIELD;
    let hangs = Rectangle::with_corners(
        Point::new(across(HANGS.start), top),
        Point::new(across(HANGS.end), bottom),
    );
    hangs.into_styled(PrimitiveStyle::with_fill(Rgb888::CSS_OLD_LACE)).draw(canvas)?;
    let grey = PrimitiveStyle::with_stroke(Rgb888::CSS_LIGHT_GRAY, 1);
    for (decade, label) in
        DECADES.zip(["100 ns", "1 us", "10 us", "100 us", "1 ms", "10 ms", "100 ms"])
    {
        let y = up(Duration::from_nanos(10_u64.pow(decade)));
        Line::new(Point::new(left, y), Point::new(right, y)).into_styled(grey).draw(canvas)?;
        text(canvas, label, Point::new(left - 8, y + 4), Rgb888::BLACK, Alignment::Right)?;
    }
    for half in 0..=(END.as_millis() / 500) as u32 {
        let x = across(Duration::from_millis(500) * half);
        Line::new(Point::new(x, bottom), Point::new(x, bottom + 5))
            .into_styled(PrimitiveStyle::with_stroke(Rgb888::BLACK, 1))
            .draw(canvas)?;
        let label = format!("{:.1} s", f64::from(half) / 2.0);
        text(canvas, &label, Point::new(x, bottom + 22), Rgb888::BLACK, Alignment::Center)?;
    }
    let title = format!(
        "Latency of each call over time; the primary hangs from {:?} to {:?}, the timeout is {:?}",
        HANGS.start, HANGS.end, TIMEOUT
    );
    text(canvas, &title, Point::new(SIZE.width as i32 / 2, 20), Rgb888::BLACK, Alignment::Center)?;
    let named = [
        (format!("by hand: a timeout, then the stand-in ({} calls)", seen.by_hand.len()), THEIRS),
        (format!("storage-mux, failover ({} calls)", seen.mux.len()), OURS),
    ];
    for ((name, colour), x) in named.iter().zip([left, left + 470]) {
        dot(canvas, Point::new(x + 4, SIZE.height as i32 - 16), *colour)?;
        let at = Point::new(x + 14, SIZE.height as i32 - 12);
        text(canvas, name, at, *colour, Alignment::Left)?;
    }
    dots(canvas, &seen.by_hand, THEIRS)?;
    dots(canvas, &seen.mux, OURS)
}

fn dots(canvas: &mut Canvas, calls: &Calls, colour: Rgb888) -> Result<(), Infallible> {
    calls.iter().try_for_each(|(at, took)| dot(canvas, Point::new(across(*at), up(*took)), colour))
}

fn dot(canvas: &mut Canvas, at: Point, colour: Rgb888) -> Result<(), Infallible> {
    Circle::with_center(at, 6).into_styled(PrimitiveStyle::with_fill(colour)).draw(canvas)
}

fn text(
    canvas: &mut Canvas,
    text: &str,
    at: Point,
    colour: Rgb888,
    alignment: Alignment,
) -> Result<(), Infallible> {
    let style: MonoTextStyle<'_, Rgb888> =
        MonoTextStyleBuilder::new().font(&FONT_9X15).text_color(colour).build();
    Text::with_alignment(text, at, style, alignment).draw(canvas).map(drop)
}

/// Where a moment lies.
fn across(at: Duration) -> i32 {
    let [left, _, right, _] = FIELD;
    left + (at.as_secs_f64() / END.as_secs_f64() * f64::from(right - left)) as i32
}

/// Where a latency lies: on a logarithmic axis.
fn up(took: Duration) -> i32 {
    let [_, top, _, bottom] = FIELD;
    let decades = (took.as_secs_f64() * 1e9).max(50.0).log10() - f64::from(DECADES.start);
    bottom - (decades / f64::from(DECADES.end - DECADES.start) * f64::from(bottom - top)) as i32
}
