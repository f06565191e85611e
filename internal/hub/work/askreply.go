package work

import (
	"errors"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// answerTo returns who answered an ask, and the text, if there is one. The answerer is the asked agent, unless the task was
// reassigned.
func answerTo(u *unit.Unit, w parley.Wait) (who parley.Agent, text string, err error) {
	from := w.Target
	if w.Answer != "" {
		m, err := u.Messages().Get(w.Answer)
		switch {
		case m.Damage != nil:
			text = "Error: " + m.Damage.Message
		case err == nil:
			from, text = m.From, Spoken(m.Content)
		case !errors.Is(err, parley.ErrNotFound):
			return who, "", err
		}
	}
	who, err = u.Agents().Find(from)
	return who, text, err
}
