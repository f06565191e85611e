package runs

// StopOf is what the reason begins with for which a stop cancels runs. That of a person begins with "by".
func StopOf(agent string) string { return agent + " was stopped" }
