package runs

// WhyStopped is the reason for which an ask ends when its recipient is stopped.
const WhyStopped = "stopped"
