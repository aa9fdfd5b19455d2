//! Traces, layers, verdicts, tallies and statistics of Stackwitness: pure, it knows no JVM
