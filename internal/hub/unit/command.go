package unit

// Bridged is the source of what comes over a bridge.
const Bridged = "file"
