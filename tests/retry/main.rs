//! The retry module, used alone and on a clock that the tests own.

mod run;
