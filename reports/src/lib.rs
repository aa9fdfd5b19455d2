//! Renders the results of Stackwitness: terminal table, JSON and more
