/** Editing the fields of a form. */
import type { Field, Prompt } from './prompt.ts'

export type Form = Extract<Prompt, { kind: 'fill' }>

/** The form after a key; `undefined` for a key that does nothing here. */
export function edit(form: Form, key: string): Form | undefined {
  const { fields, at } = form
  const field = fields[at]!
  if (key === 'tab' || key === 'down') return { ...form, at: (at + 1) % fields.length }
  if (key === 'shift-tab' || key === 'up') return { ...form, at: (at + fields.length - 1) % fields.length }
  if (field.words) {
    const step = key === 'left' ? -1 : key === ' ' || key === 'right' ? 1 : 0
    return step === 0 ? undefined : change(form, turn(field.words, field.value, step))
  }
  const value = typed(field.value, key)
  return value === undefined ? undefined : change(form, value)
}

/** A line after a key; `undefined` for a key that does not edit. */
export function typed(text: string, key: string): string | undefined {
  if (key === 'backspace') return graphemes(text).slice(0, -1).join('')
  if (key === 'ctrl-u') return ''
  return graphemes(key).length === 1 ? text + key : undefined
}

function graphemes(text: string): string[] {
  return Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment)
}

/** The form after a text was pasted. */
export function paste(form: Form, text: string): Form {
  const { fields, at } = form
  return fields[at]!.words ? form : change(form, fields[at]!.value + lineOf(text))
}

/** A pasted text on one line. */
export function lineOf(text: string): string {
  return text.replaceAll(/[\r\n\t]+/g, ' ').trim()
}

/** The values by name. */
export function valuesOf({ fields }: Form): Record<string, string> {
  return Object.fromEntries(fields.map(({ name, value }) => [name, value]))
}

/** One of many is followed by an empty one. */
function change(form: Form, value: string): Form {
  const { problem: _mended, ...rest } = form
  const fields = form.fields.with(form.at, { ...form.fields[form.at]!, value })
  const last = fields.at(-1)!
  if (!last.many || last.value === '') return { ...rest, fields }
  const count = fields.filter(({ many }) => many).length + 1
  const next: Field = { ...last, name: `${last.name.split(' ')[0]} ${count}`, label: '', value: '' }
  return { ...rest, fields: [...fields, next] }
}

function turn(words: readonly string[], word: string, step: number): string {
  return words[(words.indexOf(word) + step + words.length) % words.length]!
}
