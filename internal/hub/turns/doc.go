// Package turns holds the turns of agents: the next run, its context, its end, the sweeps of leases, and the recovery after a
// crash.
//
// NextRun makes the next run of an agent in one update. It checks whether the agent may start a run and has a slot, picks the
// most urgent message in a conversation without a run of the agent, and adds what is pending there. It stores the run, leases the
// messages to it and makes its token. It looks in a view first and writes only if there is something to start.
//
// RunContext returns what the prompt is made from, of the run's own conversation only. BeginRun records that the turn has
// started. KeepRun extends the leases and reports whether the run must end. FinishRun posts the answer, settles the messages that
// woke the run and ends the run, in one update: nothing is answered twice, and nothing is settled without its answer. FailRun
// returns the messages that may get another attempt. A run whose leases lapse is lost. The hub notes what a run posts with the
// digest of the call, so a later attempt that makes the same call gets the same message.
package turns
