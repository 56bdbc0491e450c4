/** Questions in front of the lists. */
import type { Data } from '../data/data.ts'
import type { Row } from './details.ts'

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
