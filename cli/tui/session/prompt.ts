/** Prompts in front of the lists: choices, forms and pages, and the keys that answer them. */
import type { Data } from '../data/data.ts'
import type { CommandLine } from './commands.ts'
import type { Row } from './details.ts'
import { stepOf, turnPage, typed } from './page.ts'
import type { Ui } from './ui.ts'

export type Option<Value = unknown> = { label: string; detail?: string | undefined; value: Value }

/** A field of a form: a text, or one of a few words that the space bar cycles through. */
export type Field = {
  name: string
  label: string
  value: string
  /** The placeholder of an empty field. */
  hint?: string
  /** The purpose of the field, below the form while the field is the current one. */
  help?: string
  words?: readonly string[]
  /** Repeats after it is filled in: `claim`, `claim 2`, … */
  many?: boolean
}

export type Prompt =
  | { kind: 'filter' }
  | CommandLine
  | {
      /** Lines on the whole screen. */
      kind: 'page'
      /** The identity of the page. */
      id: unknown
      title: string
      /** A box between the tabs and the keys. */
      isBox?: boolean
      rows: (columns: number) => readonly Row[]
      /** Lines above the screen; `Infinity` is the end. */
      scroll: number
      /** The text that `y` copies. */
      copied?: string | undefined
      /** The input line at the bottom, and the function that sends it. */
      draft?: string | undefined
      send?: ((text: string) => void) | undefined
      /** Why the last reload or send failed. */
      problem?: string | undefined
    }
  | {
      kind: 'qr'
      title: string
      /** The short URL, or the long one if there is no short one. */
      url: string
      longUrl: string
      /** Shows the long URL. */
      isLong?: boolean
      isOpen: (data: Data) => boolean
    }
  | { kind: 'confirm'; question: string; lines: readonly string[]; answer: (yes: boolean) => void }
  | {
      kind: 'choose'
      title: string
      /** Lines above the options. */
      lines?: readonly string[] | undefined
      options: readonly Option[]
      at: number
      answer: (option: Option | undefined) => void
    }
  | {
      kind: 'fill'
      title: string
      note?: string | undefined
      /** Throws for invalid values. The form then stays open. */
      check?: ((values: Record<string, string>) => void) | undefined
      /** The error of `check`. */
      problem?: string | undefined
      fields: readonly Field[]
      at: number
      answer: (values: Record<string, string> | undefined) => void
    }

type Form = Extract<Prompt, { kind: 'fill' }>

/** Returns the form after a key. Undefined for other keys. */
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

/** Returns the form after pasting a text. */
export function paste(form: Form, text: string): Form {
  const { fields, at } = form
  return fields[at]!.words ? form : change(form, fields[at]!.value + lineOf(text))
}

/** Joins a pasted text to one line. */
export function lineOf(text: string): string {
  return text.replaceAll(/[\r\n\t]+/g, ' ').trim()
}

/** Returns the values by name. */
export function valuesOf({ fields }: Form): Record<string, string> {
  return Object.fromEntries(fields.map(({ name, value }) => [name, value]))
}

/** Inserts an empty field after the last of a repeated one when that is filled in. */
function change(form: Form, value: string): Form {
  const { problem: _mended, ...rest } = form
  const fields = form.fields.with(form.at, { ...form.fields[form.at]!, value })
  const last = fields.findLastIndex(({ many }) => many)
  const repeated = fields[last]
  if (!repeated || repeated.value === '') return { ...rest, fields }
  const count = fields.filter(({ many }) => many).length + 1
  const next: Field = { ...repeated, name: `${repeated.name.split(' ')[0]} ${count}`, label: '', value: '' }
  return { ...rest, fields: fields.toSpliced(last + 1, 0, next) }
}

function turn(words: readonly string[], word: string, step: number): string {
  return words[(words.indexOf(word) + step + words.length) % words.length]!
}

/** Returns the state after a key, and a function that passes the answer on after the prompt is closed. */
export type Answered = { ui: Ui; after?: () => void }

/** Esc closes every prompt without an answer. */
export function answer(ui: Ui, key: string): Answered {
  const { prompt } = ui
  const closed = { ...ui, prompt: undefined }
  switch (prompt?.kind) {
    case 'page': {
      if (key === 'escape' || key === 'ctrl-c') return { ui: closed }
      const { draft, send } = prompt
      if (draft === undefined && (key === 'q' || key === 'enter')) return { ui: closed }
      if (key !== 'enter') return { ui: { ...ui, prompt: turnPage(prompt, key, ui) ?? prompt } }
      if (!draft?.trim()) return { ui }
      return { ui: { ...ui, prompt: { ...prompt, draft: '', scroll: Infinity } }, after: () => send?.(draft) }
    }
    case 'qr':
      if (key === 'l') return { ui: { ...ui, prompt: { ...prompt, isLong: !prompt.isLong } } }
      return ['escape', 'enter', 'q', 'Q', 'ctrl-c'].includes(key) ? { ui: closed } : { ui }
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
      const move = { tab: 'down', 'shift-tab': 'up' }[key] ?? key
      const step = stepOf(move, options.length) ?? 0
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
    case 'command':
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

/** Typing filters at once. Enter keeps the filter, Esc clears it. */
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
