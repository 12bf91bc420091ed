package main

import (
	"encoding/json"
	"os"
	"reflect"
	"testing"
)

// FRESHET_CORPUS=freshet-conformance.json go test
func TestConformance(t *testing.T) {
	text, err := os.ReadFile(os.Getenv("FRESHET_CORPUS"))
	if err != nil {
		t.Fatal(err)
	}
	var corpus struct {
		Cases []struct {
			Name     string
			Messages []*Message
			Expected struct {
				Version           string
				Columns           []string
				Total             int
				Sections          []*Section
				Window            *Window
				Rows              []Row
				Totals, Alongside map[string]any
			}
		}
	}
	if err := json.Unmarshal(text, &corpus); err != nil {
		t.Fatal(err)
	}
	if len(corpus.Cases) == 0 {
		t.Fatal("no cases")
	}
	for _, each := range corpus.Cases {
		t.Run(each.Name, func(t *testing.T) {
			list := &List{}
			for _, message := range each.Messages {
				if err := list.Apply(message); err != nil {
					t.Fatal(err)
				}
			}
			total := 0
			sections := []*Section{}
			for _, section := range list.Sections {
				total += section.Count
				sections = append(sections, &Section{Name: section.Name, IndexTitle: section.IndexTitle, Count: section.Count, Totals: section.Totals})
			}
			state := []any{list.Version, list.Columns, total, sections, list.Window, held(list), list.Totals, list.Alongside}
			e := each.Expected
			if e.Totals == nil {
				e.Totals = map[string]any{}
			}
			expected := []any{e.Version, e.Columns, e.Total, e.Sections, e.Window, e.Rows, e.Totals, e.Alongside}
			if got, want := asText(state), asText(expected); !reflect.DeepEqual(got, want) {
				t.Errorf("%s\nwant %s", got, want)
			}
		})
	}
}

func TestMismatches(t *testing.T) {
	messages := map[string]string{
		"a patch from another version": `{"type": "patch", "from": "2", "to": "3", "total": 1}`,
		"a path that there is not":     `{"type": "patch", "from": "1", "to": "2", "total": 0, "deleted": [[0, 7]]}`,
		"another total":                `{"type": "patch", "from": "1", "to": "2", "total": 9}`,
	}
	for name, text := range messages {
		list := &List{}
		snapshot := `{"type": "snapshot", "version": "1", "columns": ["id"], "total": 1, "sections": [{"name": "", "count": 1}], "rows": [[1]], "complete": true}`
		if err := list.Apply(parsed(t, snapshot)); err != nil {
			t.Fatal(err)
		}
		if err := list.Apply(parsed(t, text)); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

func parsed(t *testing.T, text string) *Message {
	var message Message
	if err := json.Unmarshal([]byte(text), &message); err != nil {
		t.Fatal(err)
	}
	return &message
}

func held(list *List) []Row {
	rows := []Row{}
	for _, row := range list.contents() {
		if *row != nil {
			rows = append(rows, *row)
		}
	}
	return rows
}

func asText(value any) string {
	text, _ := json.Marshal(value)
	return string(text)
}
