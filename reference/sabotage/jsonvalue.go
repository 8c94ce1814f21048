package sabotage

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// decodeJSON reads exactly one JSON document. Numbers stay as they were written, so that a message that
// is changed in one place keeps every other number to the digit.
func decodeJSON(data []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON document")
	}
	return value, nil
}

// encodeJSON writes value on one line, without the escapes that encoding/json adds for HTML.
func encodeJSON(value any) []byte {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		// Values come from JSON, YAML or CEL and are converted beforehand: this is a defect of ours.
		return []byte(strconv.Quote("sabotage: " + err.Error()))
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n"))
}

// cloneJSON copies the maps and slices of a JSON value, so that a template can be used again.
func cloneJSON(value any) any {
	switch value := value.(type) {
	case map[string]any:
		clone := make(map[string]any, len(value))
		for key, member := range value {
			clone[key] = cloneJSON(member)
		}
		return clone
	case []any:
		clone := make([]any, len(value))
		for i, element := range value {
			clone[i] = cloneJSON(element)
		}
		return clone
	}
	return value
}

// adapter shows JSON values to CEL without copying them: an integral number is an int, any other a double.
type adapter struct{ types.Adapter }

func (a adapter) NativeToValue(value any) ref.Val {
	switch value := value.(type) {
	case nil:
		return types.NullValue
	case json.Number:
		if n, err := value.Int64(); err == nil {
			return types.Int(n)
		}
		if n, err := strconv.ParseUint(value.String(), 10, 64); err == nil {
			return types.Uint(n)
		}
		n, err := value.Float64()
		if err != nil {
			return types.WrapErr(err)
		}
		return types.Double(n)
	case map[string]any:
		return types.NewStringInterfaceMap(a, value)
	case []any:
		return types.NewDynamicList(a, value)
	}
	return a.Adapter.NativeToValue(value)
}

// nativeJSON turns the result of a CEL expression into a JSON value.
func nativeJSON(value ref.Val) (any, error) {
	switch value := value.(type) {
	case types.Null:
		return nil, nil
	case types.Bool:
		return bool(value), nil
	case types.Int:
		return json.Number(strconv.FormatInt(int64(value), 10)), nil
	case types.Uint:
		return json.Number(strconv.FormatUint(uint64(value), 10)), nil
	case types.Double:
		text, err := json.Marshal(float64(value))
		if err != nil {
			return nil, err
		}
		return json.Number(text), nil
	case types.String:
		return string(value), nil
	case types.Bytes:
		return string(value), nil
	case *types.Err:
		return nil, value
	case traits.Mapper:
		object := map[string]any{}
		for it := value.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			member, err := nativeJSON(value.Get(key))
			if err != nil {
				return nil, err
			}
			name, ok := key.ConvertToType(types.StringType).(types.String)
			if !ok {
				return nil, errors.New("a key of the computed object is not a string")
			}
			object[string(name)] = member
		}
		return object, nil
	case traits.Lister:
		array := []any{}
		for it := value.Iterator(); it.HasNext() == types.True; {
			element, err := nativeJSON(it.Next())
			if err != nil {
				return nil, err
			}
			array = append(array, element)
		}
		return array, nil
	}
	text, ok := value.ConvertToType(types.StringType).(types.String)
	if !ok {
		return nil, errors.New("the computed value has no JSON form: " + value.Type().TypeName())
	}
	return string(text), nil
}
