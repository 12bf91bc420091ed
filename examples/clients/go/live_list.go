// Package main is a complete Freshet client: a list that applies messages (this file), and a connection that comes back (main.go).
package main

import (
	"errors"
	"fmt"
	"sort"
)

// Path is a section and a place in it, both from 0.
type Path [2]int

// Row has the values of one row, in the order of Columns; nil: its contents are not held.
type Row []any

// Window is a range of offsets.
type Window struct {
	Offset int `json:"offset"`
	Limit  int `json:"limit"`
}

// Section is a run of rows with one section value.
type Section struct {
	Name       any    `json:"name"`
	IndexTitle string `json:"indexTitle"`
	Count      int    `json:"count"`
	rows       []Row
}

// List is a result as it is at Version.
type List struct {
	Version   string
	Columns   []string
	Sections  []*Section
	Window    *Window
	Alongside map[string]any
	Complete  bool
}

var errMismatch = errors.New("the list is not what the server has: ask for it anew")

// Apply takes in a snapshot, rows or patch. After an error the list is worth nothing, and a new one begins.
func (l *List) Apply(m *Message) (err error) {
	// A path or an offset that there is not.
	defer func() {
		if problem := recover(); problem != nil {
			err = fmt.Errorf("%w (%v)", errMismatch, problem)
		}
	}()
	switch m.Type {
	case "snapshot":
		*l = List{Version: m.Version, Columns: m.Columns, Window: m.Window, Alongside: map[string]any{}}
		for name, value := range m.Alongside {
			l.Alongside[name] = value
		}
		for _, section := range m.Sections {
			section := section
			section.rows = make([]Row, section.Count)
			l.Sections = append(l.Sections, &section)
		}
		l.place(m)
	case "rows":
		if m.Version != l.Version {
			return errMismatch
		}
		l.place(m)
	case "patch":
		if m.From != l.Version {
			return errMismatch
		}
		l.patch(m)
	}
	return l.check(m)
}

func (l *List) place(m *Message) {
	if m.Window != nil {
		l.Window = m.Window
	}
	for index, row := range m.Rows {
		*l.at(m.Offset + index) = row
	}
	l.Complete = m.Complete
}

func (l *List) patch(m *Message) {
	// 1: rows that leave their places, from the last to the first.
	leaving := append([]Path{}, m.Deleted...)
	for _, move := range m.Moved {
		leaving = append(leaving, move.From)
	}
	sort.Slice(leaving, func(i, j int) bool { return leaving[j].before(leaving[i]) })
	taken := map[Path]Row{}
	for _, path := range leaving {
		section := l.Sections[path[0]]
		taken[path] = section.rows[path[1]]
		section.rows = append(section.rows[:path[1]], section.rows[path[1]+1:]...)
	}
	// 2 and 3: sections that go, from the last to the first, and those that come, ascending.
	for _, index := range m.SectionsDeleted {
		l.Sections = append(l.Sections[:index], l.Sections[index+1:]...)
	}
	for _, inserted := range m.SectionsInserted {
		section := &Section{Name: inserted.Name, IndexTitle: inserted.IndexTitle, rows: inserted.Rows}
		if section.rows == nil {
			section.rows = make([]Row, inserted.Count)
		}
		l.Sections = append(l.Sections[:inserted.Index], append([]*Section{section}, l.Sections[inserted.Index:]...)...)
	}
	// 4: rows that come, and those that moved, ascending by their new paths.
	arriving := append([]Arrival{}, m.Inserted...)
	for _, move := range m.Moved {
		arriving = append(arriving, Arrival{move.To, taken[move.From]})
	}
	sort.Slice(arriving, func(i, j int) bool { return arriving[i].Path.before(arriving[j].Path) })
	for _, arrival := range arriving {
		section, item := l.Sections[arrival.Path[0]], arrival.Path[1]
		section.rows = append(section.rows[:item], append([]Row{arrival.Row}, section.rows[item:]...)...)
	}
	// 5: what changed in rows that are held. Rows are replaced, so that who keeps an old one still has it.
	for _, change := range append(append([]Change{}, m.Moved...), m.Updated...) {
		row := &l.Sections[change.To[0]].rows[change.To[1]]
		if *row == nil || len(change.Values) == 0 {
			continue
		}
		merged := append(Row{}, *row...)
		for index, column := range l.Columns {
			if value, isChanged := change.Values[column]; isChanged {
				merged[index] = value
			}
		}
		*row = merged
	}
	// 6: the window, and rows that are new in it.
	if m.Window != nil {
		l.Window = m.Window
	}
	for _, filled := range m.Filled {
		*l.at(filled.Offset) = filled.Row
	}
	for name, value := range m.Alongside {
		l.Alongside[name] = value
	}
	l.Version = m.To
}

// check lets go of rows outside the window, and counts along with the server.
func (l *List) check(m *Message) error {
	offset := 0
	for _, section := range l.Sections {
		section.Count = len(section.rows)
		for index, row := range section.rows {
			isWanted := l.Window == nil || (offset >= l.Window.Offset && offset < l.Window.Offset+l.Window.Limit)
			if !isWanted {
				section.rows[index] = nil
			} else if row == nil && l.Complete {
				return errMismatch
			}
			offset++
		}
	}
	if m.Type != "rows" && offset != m.Total {
		return errMismatch
	}
	return nil
}

// at is the row at an offset of the whole result.
func (l *List) at(offset int) *Row {
	for _, section := range l.Sections {
		if offset < len(section.rows) {
			return &section.rows[offset]
		}
		offset -= len(section.rows)
	}
	panic("no such offset")
}

// Rows are those that are held, in order.
func (l *List) Rows() []Row {
	rows := []Row{}
	for _, section := range l.Sections {
		for _, row := range section.rows {
			if row != nil {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

func (p Path) before(other Path) bool {
	return p[0] < other[0] || (p[0] == other[0] && p[1] < other[1])
}
