//! The switches: one bug each.

use storage_mux::Operation;

/// What is broken about a store. Everything else about it is right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Bug {
    None,

    // What it declares, and calls that were given up.
    KeyLimitOfTwenty,
    UndeclaredButDone(Operation),
    AbortIsTransient(Operation),
    AbortTearsWrites,
    AbortDoesNothingAndSucceeds(Operation),
    AbortedStreamIsTransient,

    // Missing keys.
    MissingIsEmpty(Operation),
    HasSaysYes,
    HasSaysNo,
    DeleteOfMissingFails,
    DeleteKeeps,
    DeleteTakesDirectory,
    DeleteTakesPrefix,
    DirectoryHasValue(Operation),

    // Whole values.
    SetDropsCarriageReturns,
    SetCutsAt64KiB,
    SetKeepsTail,
    SetCollides,
    EmptyIsMissing,
    EmptyIsUnlisted,
    SizeIsOneTooLarge,
    SizeForgetsPartial,
    SizeForgetsStream,

    // Partial writes.
    PartialDropsRest,
    PartialDropsPrefix,
    PartialNeverExtends,
    PartialAppendsWithoutGap,
    PartialFillsWithSpaces,
    PartialOfMissingFails,
    PartialOfNothingEmpties,
    PartialOfNothingExtends,
    PartialOfNothingCreatesNothing,

    // Keys.
    TakesEmptyKey(Operation),
    TakesNul(Operation),
    TakesLongKey(Operation),
    EmptyKeyIsMissing(Operation),
    CountsCharacters,
    LimitIsOneLess,
    LimitIsLessWhereListed,
    DecodesPercent,
    CutsAtQuestionMark,
    ListsEncoded,
    FoldsCase,
    TrimsSpace,
    ComposesAccents,
    ResolvesDots,
    MergesSlashes,
    TurnsBackslashes,
    PathsAreTransient,

    // Listings.
    RootListsNothing,
    RootListsFirstSegments,
    NoMatchIsAnError,
    NoMatchListsAll,
    PrefixIsSegments,
    PrefixKeyIsHidden,
    ScanStopsEarly,
    OrderIsBackwards,
    OrderIsUtf16,
    ListsDeleted,
    ListsRewrittenTwice,
    ListsNoSizes,
    PageIsTooLarge,
    PageSkipsOne,
    PageRepeatsLast,
    PageIsCutQuietly,
    PagesNeverEnd,
    LastPageNamesNext,
    ResumesOnlyAfterKeys,
    ResumeCountsSegments,

    // Ranges.
    RangeEndIsInclusive,
    RangeIgnoresStart,
    RangePastEndFails,
    RangeStartPastEndIsEmpty,
    RangeStartAtEndIsEmpty,
    EmptyRangeFails,
    BackwardRangeIsTransient,

    // Conditions.
    AbsentOverwrites,
    EmptyCountsAsAbsent,
    PresentVersionIsRefused,
    StaleVersionIsTaken,
    VersionOfMissingCreates,
    RefusalIsNotFound,
    VersionStays(Operation),
    NoVersion,
    WriteTellsOtherVersion(Operation),

    // Write streams.
    WriterDropsThirdChunk,
    WriterEndsAtEmptyChunk,
    WriterAppends,
    WriterOfNothingStoresNothing,
    WriterIsVisibleEarly,
    WriterListsScratch,
    WriterHidesOldValue,
    WriterStoresOnDrop,
    WriterDropsOldOnDrop,
    WritersShareScratch,

    // Read streams.
    ReaderDropsTail,
    ReaderSwapsChunks,
    ReaderNeverEnds,
    ReaderGivesOnlyEmptyChunks,
    ReaderOfEmptyFails,
    ReaderBeginsAgain,
    ReaderFailsAfterEnd,
}
