package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"
)

// column is a column of a table.
type column[T any] struct {
	title string
	cell  func(T) string
}

// printList prints items as a table, as a JSON array, or as JSON lines.
func printList[T any](a *app, items []T, columns ...column[T]) error {
	return printListWith(a, items, column[T]{}, columns...)
}

// printListWith is printList with a last column for long texts, which a terminal shows below their rows.
func printListWith[T any](a *app, items []T, last column[T], columns ...column[T]) error {
	switch a.output {
	case formatLines:
		for _, item := range items {
			if err := a.printJSON(item); err != nil {
				return err
			}
		}
		return nil
	case formatJSON:
		if items == nil {
			items = []T{}
		}
		return a.printJSON(items)
	default:
		if len(items) == 0 {
			a.printStderr("none")
		}
		var below []string
		switch {
		case last.cell == nil:
		case isTerminal(a.out):
			for _, item := range items {
				below = append(below, oneLine(last.cell(item)))
			}
		default:
			columns = append(columns, last)
		}
		a.printTable(tableRows(items, columns), below...)
		return nil
	}
}

func tableRows[T any](items []T, columns []column[T]) [][]string {
	head := make([]string, len(columns))
	for i, c := range columns {
		head[i] = strings.ToUpper(c.title)
	}
	table := [][]string{head}
	for _, item := range items {
		row := make([]string, len(columns))
		for i, c := range columns {
			row[i] = oneLine(c.cell(item))
		}
		table = append(table, row)
	}
	return table
}

// printTable prints rows, the first one as a heading if there are others, each with the text that belongs below it. On
// a terminal, it omits empty columns.
func (a *app) printTable(table [][]string, below ...string) {
	if len(table) < 2 {
		return
	}
	if isTerminal(a.out) {
		table = nonEmptyColumns(table)
	}
	widths := columnWidths(table)
	for i, row := range table {
		line := a.fit(alignRow(row, widths))
		if i == 0 && a.colours() {
			line = "\x1b[1m" + line + "\x1b[0m"
		}
		_, _ = fmt.Fprintln(a.out, line)
		if i > 0 && i <= len(below) && below[i-1] != "" {
			_, _ = fmt.Fprintln(a.out, "  "+below[i-1])
		}
	}
}

// nonEmptyColumns returns a table without the columns that have only a heading.
func nonEmptyColumns(table [][]string) [][]string {
	slim := make([][]string, len(table))
	for column := range table[0] {
		if !slices.ContainsFunc(table[1:], func(row []string) bool { return row[column] != "" }) {
			continue
		}
		for i, row := range table {
			slim[i] = append(slim[i], row[column])
		}
	}
	return slim
}

// printFields prints pairs of names and values, one pair a line. It omits pairs without a value.
func (a *app) printFields(pairs ...string) {
	var table [][]string
	for i := 0; i+1 < len(pairs); i += 2 {
		if value := oneLine(pairs[i+1]); value != "" {
			table = append(table, []string{pairs[i], value})
		}
	}
	widths := columnWidths(table)
	for _, row := range table {
		_, _ = fmt.Fprintln(a.out, alignRow(row, widths))
	}
}

func columnWidths(table [][]string) []int {
	var widest []int
	for _, row := range table {
		for i, cell := range row {
			if i == len(widest) {
				widest = append(widest, 0)
			}
			widest[i] = max(widest[i], displayWidth(cell))
		}
	}
	return widest
}

func alignRow(row []string, widths []int) string {
	var line strings.Builder
	for i, cell := range row {
		line.WriteString(cell)
		line.WriteString(strings.Repeat(" ", widths[i]-displayWidth(cell)+2))
	}
	return strings.TrimRight(line.String(), " ")
}

// fit truncates a line to the width of the terminal. It never truncates output for programs.
func (a *app) fit(line string) string {
	if file, ok := a.out.(*os.File); ok && isTerminal(a.out) {
		if wide, _, err := term.GetSize(int(file.Fd())); err == nil && wide > 0 {
			return truncate(line, wide)
		}
	}
	return line
}
