/** Records calls of the API as examples for its document. */
import type { Client } from '../../../daemon/client/client.ts'

/** What was sent and answered. `request` and `response` are bodies, absent where there is none. */
export type Example = { request?: unknown; response?: unknown }

/**
 * A client whose calls become examples: the first call of an operation, and of a read, which may be repeated,
 * the last.
 */
export function recording(call: Client, examples: Map<string, Example>): Client {
  const record = async (key: string, input: { body?: unknown } = {}) => {
    const response: unknown = await (call as (...args: unknown[]) => Promise<unknown>)(key, input)
    if (examples.has(key) && !key.startsWith('GET ')) return response
    const { body } = input
    const request = body !== undefined && { request: body }
    // A call without a body returns an empty text.
    examples.set(key, { ...request, ...(response !== undefined && response !== '' && { response }) })
    return response
  }
  return record as Client
}

/** Addresses and folders of the test, and what the examples have instead. */
export type Names = Readonly<Record<string, string>>

/** Parts of texts that differ between runs, or are long, and what the examples have instead. */
const kinds: readonly [RegExp, string | ((number: number) => string)][] = [
  [/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/, (number) => `4c1f7a20-e9d3-4586-8c1f-${hexOf(number)}`],
  [/\b[0-9a-f]{64}\b/, (number) => `4c1f7a20e9d3b5864c1f7a20e9d3b5864c1f7a20e9d3b5864c1f${hexOf(number)}`],
  [/(?!2099)20\d\d-\d\d-\d\dT[\d:.]+Z/, '2026-11-02T09:30:00Z'],
  [/did:peer:2\.[\w.+=-]+/, 'did:peer:2.Ez6LSbysY2xFMRpGMhb7tFTLMpeuPRaqaWM1yECx2AtzE3KCc'],
  [/eyJ[\w-]+\.[\w-]+\.[\w-]+/, 'eyJhbGciOiJFUzI1NksifQ.eyJ2YyI6e319.c2lnbmF0dXJl'],
  [/authenticate-[\w+/]+=*/, 'authenticate-c2hvcnRlbmVk'],
  [/\bwhsec_[\w+/]+=*/, 'whsec_c2hvcnRlbmVk'],
  [/\beyJ[\w-]{20,}=*/, 'eyJpZCI6Ii4uLiJ9'],
  [/(?<=-----BEGIN [A-Z ]+-----\n)[\w+/=\n]+(?=\n-----END)/, 'MIIBc2hvcnRlbmVk'],
  [/\bMII[\w+/]{100,}=*/, 'MIIBc2hvcnRlbmVk'],
  [/\b\d{43,}\b/, '1234567890'],
  [/\b[0-9a-f]{66,}\b/, 'c0ffee'],
  // Not from within a percent-encoded character.
  [/(?<!%|%[\dA-F])(?=[a-z_-]*[A-Z\d])[\w-]{43,}=*/, 'c2hvcnRlbmVk'],
]
const hexOf = (number: number) => (number * 0x9e3779b1).toString(16).padStart(12, '0').slice(-12)
const anyKind = new RegExp(kinds.map(([{ source }]) => `(${source})`).join('|'), 'g')

/**
 * Makes recorded values those of an example: short, without what only this run has. Ids are numbered in the
 * order of their appearance, so that all examples of one record have the same id.
 */
export function toExamples(examples: ReadonlyMap<string, Example>, names: Names): Record<string, Example> {
  const numbers = new Map<string, number>()
  const numberOf = (id: string) => numbers.get(id) ?? numbers.set(id, numbers.size + 1).get(id)!
  const toShort = (part: string, ...groups: (string | undefined)[]) => {
    const kind = kinds[groups.slice(0, kinds.length).findIndex((group) => group !== undefined)]![1]
    return typeof kind === 'string' ? kind : kind(numberOf(part))
  }
  const toText = (text: string) =>
    Object.entries(names)
      .flatMap(([from, to]) => [
        [from, to] as const,
        [encodeURIComponent(from), encodeURIComponent(to)] as const,
      ])
      .reduce((result, [from, to]) => result.replaceAll(from, to), text)
      .replaceAll(anyKind, toShort)
  const toValue = (value: unknown, member?: string): unknown => {
    // Parts of an envelope that are random and short.
    if (member === 'tag' || member === 'iv') return value === 'default' ? value : 'c2hvcnRlbmVk'
    if (typeof value === 'string') return toText(value)
    if (Array.isArray(value)) return value.map((each) => toValue(each))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [toText(name), toValue(each, name)]),
    )
  }
  return Object.fromEntries([...examples].map(([key, example]) => [key, toValue(example) as Example]))
}
