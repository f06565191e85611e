package demo

import "github.com/parley-hub/parley"

// Act is a part of the show: the message that begins it, and the lines that end it.
type Act struct {
	Title string
	Begin parley.Draft
	Ends  []Line // in any order
}

// Line is a message that an agent sends.
type Line struct {
	From string
	Text string // a part of the text
}

// Acts returns the parts of the show, in order. At the end of the last act, InternBot waits for an approval.
func Acts() []Act {
	return []Act{
		{
			"A standup: the mentioned agents answer",
			parley.Draft{Conversation: Standup, Content: parley.Content{Text: "Good morning! @CoordinatorBot please start the standup."}},
			[]Line{{"writerbot", ""}, {"analystbot", ""}, {"databot", ""}},
		},
		{
			"A report: three delegations, and their results come back one by one",
			directDraft("coordinatorbot", "Prepare Q4 report"),
			[]Line{{"coordinatorbot", "here is the Q4 report"}},
		},
		{
			"A question: CoordinatorBot asks AnalystBot, and AnalystBot asks DataBot",
			directDraft("coordinatorbot", "How is the market?"),
			[]Line{{"coordinatorbot", "Response from AnalystBot"}},
		},
		{
			"An approval: InternBot needs approval to ask",
			directDraft("internbot", "Have your analysis validated."),
			[]Line{{"internbot", parley.HeldText}, {parley.System, "InternBot wants to contact"}},
		},
	}
}

// ApprovedLine is what InternBot says after the approval of its call.
func ApprovedLine() Line { return Line{"internbot", "validated"} }

func directDraft(agent, text string) parley.Draft {
	return parley.Draft{Direct: []string{agent}, Content: parley.Content{Text: text}}
}
