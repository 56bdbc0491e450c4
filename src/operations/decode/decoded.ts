/**
 * The result of `agent decode`: a recognised text, its content, and the checks that need nothing but the
 * text.
 */
import type { Resolver } from '../../did/resolver.ts'
import { isJsonObject, type JsonObject } from '../../foundation/json.ts'
import { reasonOf } from '../../foundation/reason.ts'
import type { Candidate } from './session.ts'

/** A value for people. A `Date` is a time; `Facts` without a value are left out. */
export type FactValue = string | number | boolean | Date | readonly string[] | undefined
export type Facts = { [name: string]: FactValue }

/** `detail` continues the name of the check: the key that was used, or the reason. */
export type Check = { name: string; result: 'passed' | 'failed' | 'not verified'; detail: string }

export type Decoded = {
  /** The recognised form, for programs, such as `sd-jwt-vc`. */
  kind: string
  /** The same for people, such as `SD-JWT VC with key binding`. */
  title: string
  facts: Facts
  checks: Check[]
  /** The decoded JSON by the name of its part. `document` is the text itself as JSON. */
  content: JsonObject
  /** Texts inside this text that have a form of their own, such as the credentials of a presentation. */
  parts: Decoded[]
}

/** A text that is recognised and cannot be read, or is not recognised. The message names both. */
export class DecodeError extends Error {
  override name = 'DecodeError'
}

/** Sources beside the text: DID documents, and with a network the content of URLs. */
export type Sources = {
  /** Resolves the DIDs that contain their document; with a network, also did:web. */
  resolver: Resolver
  /** Undefined without a network. */
  online: Online | undefined
  /** Transcripts of the session of a document or its request (`session.ts`), if the person gave them. */
  candidates?: readonly Candidate[] | undefined
  /** The origin of the page of a session. */
  origin?: string | undefined
  /** Decodes a text that another one contains. @throws {DecodeError} */
  decode: (text: string) => Promise<Decoded>
}

export type Online = {
  /** The body at a URL, as text. @throws {DecodeError} */
  getText: (url: string) => Promise<string>
  /** The message of a short link, or the URL with it. @throws {DecodeError} */
  getMessage: (url: URL) => Promise<string>
}

/** A recognised text. */
export function decodedOf(
  kind: string,
  title: string,
  facts: Facts,
  { checks = [], content = {}, parts = [] }: Partial<Pick<Decoded, 'checks' | 'content' | 'parts'>>,
): Decoded {
  return { kind, title, facts, checks, content, parts }
}

/** Reads a part of a recognised text. @throws {DecodeError} that names the form, the part and the reason */
export function reading<T>(form: string, part: string, read: () => T): T {
  try {
    return read()
  } catch (cause) {
    throw new DecodeError(`This is ${form}, but its ${part} cannot be read: ${reasonOf(cause)}`, { cause })
  }
}

/** Runs a check that throws the reason of its failure. */
export async function check(name: string, passed: string, run: () => unknown): Promise<Check> {
  try {
    await run()
    return { name, result: 'passed', detail: passed }
  } catch (error) {
    return { name, result: 'failed', detail: reasonOf(error) }
  }
}

/** The fact of a time in epoch seconds. Undefined for any other value. */
export function timeOf(seconds: unknown): Date | undefined {
  if (typeof seconds !== 'number') return undefined
  const date = new Date(seconds * 1_000)
  return Number.isNaN(date.getTime()) ? undefined : date
}

/** The fact of a text, or of a list of texts. Undefined for any other value. */
export function textOf(value: unknown): string | readonly string[] | undefined {
  if (typeof value === 'string') return value
  return Array.isArray(value) && value.every((each) => typeof each === 'string') ? value : undefined
}

/** Names an object in one line: its text, its id, or else its JSON. */
export function idOf(value: unknown): string | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'string') return value
  return isJsonObject(value) && typeof value['id'] === 'string' ? value['id'] : JSON.stringify(value)
}
