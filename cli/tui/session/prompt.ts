/** Prompts in front of the lists: choices, forms and pages, and the keys that answer them. */
import type { Data } from '../data/data.ts'
import type { Row } from './details.ts'
import { turnPage } from './page.ts'
import type { Ui } from './ui.ts'

export type Option<Value = unknown> = { label: string; detail?: string | undefined; value: Value }

/** A field of a form: a text, or one of a few words that the space bar goes through. */
export type Field = {
  name: string
  label: string
  value: string
  /** What may be written, said while nothing is. */
  hint?: string
  words?: readonly string[]
  /** Another like it follows once it has been filled in: `claim`, `claim 2`, …  */
  many?: boolean
}

export type Prompt =
  | { kind: 'filter' }
  | {
      /** Lines on the whole screen. */
      kind: 'page'
      /** Tells this page from another one. */
      id: unknown
      title: string
      rows: (columns: number) => readonly Row[]
      /** Lines above the screen; `Infinity` is the end. */
      scroll: number
      /** The text that `y` copies. */
      copied?: string | undefined
      /** A line that is typed at the foot, and the function that sends it. */
      draft?: string | undefined
      send?: ((text: string) => void) | undefined
      /** Why the lines may be out of date, or the line was not sent. */
      problem?: string | undefined
    }
  | { kind: 'qr'; title: string; url: string; isOpen: (data: Data) => boolean }
  | { kind: 'confirm'; question: string; lines: readonly string[]; answer: (yes: boolean) => void }
  | {
      kind: 'choose'
      title: string
      options: readonly Option[]
      at: number
      answer: (option: Option | undefined) => void
    }
  | {
      kind: 'fill'
      title: string
      note?: string | undefined
      /** Says what is wrong with the values, by throwing it: the form stays until that is mended. */
      check?: ((values: Record<string, string>) => void) | undefined
      /** What was wrong with them. */
      problem?: string | undefined
      fields: readonly Field[]
      at: number
      answer: (values: Record<string, string> | undefined) => void
    }

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

/** The dashboard after a key, and what follows of it: the answer to the question, told once it is gone. */
export type Answered = { ui: Ui; after?: () => void }

/** Esc leaves every question without an answer. */
export function answer(ui: Ui, key: string): Answered {
  const { prompt } = ui
  const closed = { ...ui, prompt: undefined }
  switch (prompt?.kind) {
    case 'page': {
      if (key === 'escape' || key === 'ctrl-c') return { ui: closed }
      const { draft, send } = prompt
      if (draft === undefined && (key === 'q' || key === 'enter')) return { ui: closed }
      if (key !== 'enter') return { ui: { ...ui, prompt: turnPage(prompt, key, ui.size) ?? prompt } }
      if (!draft?.trim()) return { ui }
      return { ui: { ...ui, prompt: { ...prompt, draft: '', scroll: Infinity } }, after: () => send?.(draft) }
    }
    case 'qr':
      return ['escape', 'enter', 'q', 'Q'].includes(key) ? { ui: closed } : { ui }
    case 'filter':
      return filter(ui, key)
    case 'confirm':
      if (key === 'y' || key === 'Y') return { ui: closed, after: () => prompt.answer(true) }
      return ['n', 'N', 'escape', 'enter', 'q', 'ctrl-c'].includes(key)
        ? { ui: closed, after: () => prompt.answer(false) }
        : { ui }
    case 'choose': {
      const { options, at } = prompt
      if (key === 'escape' || key === 'q' || key === 'ctrl-c')
        return { ui: closed, after: () => prompt.answer(undefined) }
      if (key === 'enter') return { ui: closed, after: () => prompt.answer(options[at]) }
      const chosen = /^[1-9]$/.test(key) ? options[Number(key) - 1] : undefined
      if (chosen) return { ui: closed, after: () => prompt.answer(chosen) }
      const step =
        key === 'down' || key === 'j' || key === 'tab'
          ? 1
          : key === 'up' || key === 'k' || key === 'shift-tab'
            ? -1
            : 0
      return {
        ui: { ...ui, prompt: { ...prompt, at: Math.min(Math.max(at + step, 0), options.length - 1) } },
      }
    }
    case 'fill': {
      if (key === 'escape' || key === 'ctrl-c') return { ui: closed, after: () => prompt.answer(undefined) }
      if (key !== 'enter') return { ui: { ...ui, prompt: edit(prompt, key) ?? prompt } }
      const problem = problemOf(prompt)
      if (problem !== undefined) return { ui: { ...ui, prompt: { ...prompt, problem } } }
      return { ui: closed, after: () => prompt.answer(valuesOf(prompt)) }
    }
    case undefined:
      return { ui }
  }
}

function problemOf(form: Form): string | undefined {
  try {
    form.check?.(valuesOf(form))
  } catch (error) {
    return (error as Error).message
  }
}

/** What is typed filters at once; Enter keeps it, Esc takes it away. */
function filter(ui: Ui, key: string): Answered {
  const text = ui.filters[ui.pane] ?? ''
  const to = (next: string) => ({
    ...ui,
    filters: { ...ui.filters, [ui.pane]: next },
    selected: { ...ui.selected, [ui.pane]: undefined },
    scroll: 0,
  })
  if (key === 'enter') return { ui: { ...ui, prompt: undefined } }
  if (key === 'escape' || key === 'ctrl-c') return { ui: { ...to(''), prompt: undefined } }
  const next = typed(text, key)
  return { ui: next === undefined ? ui : to(next) }
}
