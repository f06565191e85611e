package connect

// MissingProgram returns the program that the registration runs, if it does not exist or cannot be executed, or "". The files of a
// project and of a plugin run the program parley in PATH.
func (c Connection) MissingProgram(m Machine) string {
	program := c.Parley
	if c.Project != "" || len(c.Files) == 0 {
		program = "parley"
	}
	if _, err := m.LookPath(program); err != nil {
		return program
	}
	return ""
}
