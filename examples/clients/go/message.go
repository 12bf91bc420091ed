package main

import "encoding/json"

// Message is whatever the server sends: docs/protocol.md, 3.2.
type Message struct {
	Type      string         `json:"type"`
	ID        string         `json:"id"`
	Version   string         `json:"version"`
	Columns   []string       `json:"columns"`
	Total     int            `json:"total"`
	Sections  []Section      `json:"sections"`
	Window    *Window        `json:"window"`
	Offset    int            `json:"offset"`
	Rows      []Row          `json:"rows"`
	Complete  bool           `json:"complete"`
	Alongside map[string]any `json:"alongside"`

	From             string            `json:"from"`
	To               string            `json:"to"`
	Deleted          []Path            `json:"deleted"`
	SectionsDeleted  []int             `json:"sectionsDeleted"`
	SectionsInserted []InsertedSection `json:"sectionsInserted"`
	Inserted         []Arrival         `json:"inserted"`
	Moved            []Change          `json:"moved"`
	Updated          []Change          `json:"updated"`
	Filled           []Filled          `json:"filled"`

	Code      string `json:"code"`
	Text      string `json:"message"`
	Fatal     bool   `json:"fatal"`
	Retryable bool   `json:"retryable"`
}

// Arrival is [section, item, row?].
type Arrival struct {
	Path Path
	Row  Row
}

// Change is [from, to, {column: value}?].
type Change struct {
	From, To Path
	Values   map[string]any
}

// Filled is [offset, row].
type Filled struct {
	Offset int
	Row    Row
}

// InsertedSection is [index, section], the section with its rows unless there is a window.
type InsertedSection struct {
	Index int
	Section
	Rows []Row
}

func (a *Arrival) UnmarshalJSON(text []byte) error {
	return elements(text, &a.Path[0], &a.Path[1], &a.Row)
}
func (c *Change) UnmarshalJSON(text []byte) error { return elements(text, &c.From, &c.To, &c.Values) }
func (f *Filled) UnmarshalJSON(text []byte) error { return elements(text, &f.Offset, &f.Row) }

func (s *InsertedSection) UnmarshalJSON(text []byte) error {
	section := struct {
		*Section
		Rows *[]Row `json:"rows"`
	}{&s.Section, &s.Rows}
	return elements(text, &s.Index, &section)
}

// elements reads an array whose elements are of several types. The last ones may be missing.
func elements(text []byte, targets ...any) error {
	var parts []json.RawMessage
	if err := json.Unmarshal(text, &parts); err != nil {
		return err
	}
	for index, part := range parts {
		if index == len(targets) {
			break
		}
		if err := json.Unmarshal(part, targets[index]); err != nil {
			return err
		}
	}
	return nil
}
