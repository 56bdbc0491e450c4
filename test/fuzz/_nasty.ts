/** Values that often expose bugs, and mutations of valid values. */
import fc from 'fast-check'
import { character } from '../support/character.ts'
import type { Draw } from './_draw.ts'
import { Members, objectOf, Raw } from './_json.ts'

export const names = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'toJSON',
  'then',
  'length',
  '',
  '\0',
  '$ref',
  '@context',
  'id',
  '\ud800',
]

const someText = fc.string({ unit: character, maxLength: 30 })
const someJson = fc.jsonValue({ maxDepth: 3 })
const oneNull = '00000000-0000-0000-0000-000000000000'

// prettier-ignore
export const texts: readonly string[] = [
  ...names, ' ', '\t\n\r', 'a\0b', '\ud800\ud800', '\udfff', '\ufeff', '\u202e', '\u2028', 'İ', 'ﬀ', 'e\u0301'.repeat(50), '👩‍👩‍👧‍👦', '\ufffe\uffff', '𝒳',
  'null', 'undefined', 'NaN', 'true', '0', '-1', '1e999', '0x10', '1'.repeat(400), oneNull, oneNull.toUpperCase(), `{${oneNull}}`, `urn:uuid:${oneNull}`,
  "'; DROP TABLE record; --", "' OR 1=1 --", '%', '%%%', '%00', '%ff', '_', '\\', '*', '?', '../../../etc/passwd', '..%2f..%2f', '${jndi:ldap://x}', '{{7*7}}', '<script>', '{1}{999}',
  'file:///etc/passwd', 'data:,x', 'javascript:1', 'http://', 'http://[::1]:0/', 'http://a@127.0.0.1:1/', 'http://127.0.0.1:1/', 'http://127.1/x#y?z', 'https://x.invalid/', 'http://\0/', 'ws://127.0.0.1:1', 'HTTP:127.0.0.1',
  'did:', 'did:x', 'did:peer:', 'did:peer:2', 'did:peer:2.', 'did:peer:2.Ez6LS', 'did:peer:4zQm', 'did:peer:4zQmabc:z2M', 'did:key:z6Mk', 'did:key:zzzz', 'did:jwk:e30', 'did:jwk:eyJrdHkiOiJPS1AifQ', 'did:web:127.0.0.1%3A1',
  'did:web:%00', 'did:web:x.invalid:a:b', `did:prism:${'0'.repeat(64)}`, `did:prism:${'0'.repeat(64)}:CgA`, 'did:prism:x', 'did:__proto__:x', 'did:constructor:x', 'did:example:1#', 'did:example:1?versionTime=x#y',
  '0000-00-00T00:00:00Z', '9999-12-31T23:59:60Z', '+275760-09-13T00:00:00Z', '2020-02-30T00:00:00Z', '1970-01-01T00:00:00+99:99', '2020-01-01T00:00:00.000000000000000000001Z', '2020-01-01T00:00Z',
  '(a+)+$', `${'a'.repeat(40)}!`, '^(?=a)\\1(?<!x)$', '[', '\\u{110000}', '(?:a{0,1000}){0,1000}', '.*.*.*.*.*=.*', '$', '$..*', '$..*..*..*..*', '$[?(@.a==1)]', '$[?match(@, "(a+)+$")]', '$[0:99999999999:1]', '$.vc.credentialSubject.name',
  '1.0.0-0.0.0.0', '99999999999999999999.0.0', `1.0.0-${'a.'.repeat(100)}a`, 'e30', 'e30.e30.', 'eyJhbGciOiJub25lIn0.e30.', '..', '....', '~', 'a~b~', 'eyJhbGciOiJFUzI1NksifQ.bnVsbA.AA', 'e30=.e30=.AA==', 'AAAA', '=', '====', '-_-_', '+/+/', 'AA\n',
  '#', 'x-y: z\r\nInjected: 1', 'text/html', 'application/json;charset=utf-16', '🤷',
]
const long = [1_000, 4_001, 10_001, 70_000, 300_000]

/** An unusual text. */
export function nastyText(draw: Draw): string {
  if (draw.share(0.5)) return draw.of(texts)
  if (draw.share(0.7)) return draw.from(someText)
  const text = draw.of([
    'a',
    '\0',
    '"',
    '\\',
    'é',
    '[',
    '{',
    '0',
    'A',
    '/',
    '$.',
    'did:',
    '\ud800',
    ' ',
    '%',
    '.',
  ])
  return text.repeat(Math.ceil(draw.of(long) / (draw.share(0.8) ? 100 : 1)))
}

// prettier-ignore
const numbers = [0, -0, -1, 1, 1.5, 2 ** 31, 2 ** 53, -(2 ** 53), 1e21, 1e308, 5e-324, 8.64e15 + 1, 1e12,
  ...['1e400', '-1e400', '1e-400', '1'.repeat(400), `0.${'1'.repeat(400)}`, '-0.0', '1E+2'].map((text) => new Raw(text))]

/** Nesting below and above the limit. */
const depths = [10, 60, 63, 64, 65, 1_000, 20_000]

export function nasty(draw: Draw): unknown {
  switch (draw.kind({ text: 8, number: 4, plain: 5, json: 3, deep: 2, wide: 1 })) {
    case 'text':
      return nastyText(draw)
    case 'number':
      return draw.of(numbers)
    case 'plain':
      return draw.of([null, true, false, [], {}, [[]], [null], { '': '' }, [{}], [[], []]])
    case 'json':
      return draw.share(0.5)
        ? draw.from(someJson)
        : objectOf([[draw.of(names), draw.share(0.5) ? { polluted: true } : nastyText(draw)]])
    case 'deep': {
      const depth = draw.of(depths)
      return draw.of([
        new Raw('['.repeat(depth) + ']'.repeat(depth)),
        new Raw('{"a":'.repeat(depth) + '1' + '}'.repeat(depth)),
      ])
    }
    case 'wide': {
      const count = draw.of([31, 101, 1_001, 10_000])
      const item = draw.of(['0', 'null', '"a"', '{}', '""'])
      if (draw.share(0.5)) return new Raw(`[${Array<string>(count).fill(item).join(',')}]`)
      return new Raw(`{${Array.from({ length: count }, (_, at) => `"${at}":${item}`).join(',')}}`)
    }
  }
}

/** A copy of a value with `times` random changes. */
export function bend(draw: Draw, value: unknown, times = 1 + draw.below(2)): unknown {
  let bent = value
  for (let time = 0; time < times; time++) bent = bendOnce(draw, bent)
  return bent
}

function bendOnce(draw: Draw, value: unknown): unknown {
  const children = Array.isArray(value) ? value.length : isPlain(value) ? Object.keys(value).length : 0
  // The root counts as one position.
  if (children === 0 || draw.share(0.05)) return change(draw, value)
  const at = draw.below(children)
  if (Array.isArray(value))
    return value.flatMap((item: unknown, n) => (n === at ? bendItem(draw, item) : [item]))
  const entries = Object.entries(value as object)
  if (draw.share(0.06))
    return new Members([...entries, [draw.share(0.5) ? entries[at]![0] : draw.of(names), nasty(draw)]])
  return objectOf(
    entries.flatMap(([name, child]: [string, unknown], n) =>
      n === at ? bendMember(draw, name, child) : [[name, child] as const],
    ),
  )
}

function bendItem(draw: Draw, item: unknown): unknown[] {
  return draw.kind({ deeper: 8, gone: 1, twice: 1 }) === 'deeper'
    ? [goDeeper(draw, item)]
    : draw.share(0.5)
      ? []
      : [item, item]
}

function bendMember(draw: Draw, name: string, child: unknown): [string, unknown][] {
  const kind = draw.kind({ deeper: 10, gone: 1, renamed: 1 })
  if (kind === 'gone') return []
  return kind === 'renamed'
    ? [[draw.share(0.5) ? draw.of(names) : name.toUpperCase(), child]]
    : [[name, goDeeper(draw, child)]]
}

function goDeeper(draw: Draw, child: unknown): unknown {
  return typeof child === 'object' && child !== null && draw.share(0.75)
    ? bendOnce(draw, child)
    : change(draw, child)
}

/** A replacement for a value: a similar one, or any. */
function change(draw: Draw, value: unknown): unknown {
  if (draw.share(0.15)) return [value]
  if (typeof value === 'string' && draw.share(0.5)) {
    const at = draw.below(value.length + 1)
    return draw.of([
      value.slice(0, at),
      value.slice(0, at) + nastyText(draw) + value.slice(at),
      value + value,
      value.toUpperCase(),
      ` ${value}`,
      value.slice(0, at) + value.slice(at + 1),
    ])
  }
  if (typeof value === 'number' && draw.share(0.5))
    return draw.of([-value, value + 1, value * 1e9, String(value), value + 0.5])
  return nasty(draw)
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !(value instanceof Raw) && !(value instanceof Members)
}
