/**
 * Plain messages of zod issues for the whole program. Each continues `field: …`. A message of a schema has
 * precedence.
 */
import * as z from 'zod'

type Issue = z.core.$ZodRawIssue

/** Types in plain words, by zod’s names. */
// prettier-ignore
const things: Readonly<Record<string, string>> = {
  array:     'an array',
  bigint:    'a whole number',
  boolean:   'true or false',
  date:      'a date',
  function:  'a function',
  int:       'a whole number',
  map:       'an object',
  nan:       'not a number',
  never:     'left out',
  null:      'null',
  number:    'a number',
  object:    'an object',
  record:    'an object',
  string:    'a text',
  tuple:     'an array',
  undefined: 'left out',
}

// prettier-ignore
const formats: Readonly<Record<string, string>> = {
  base64:    'base64',
  base64url: 'base64url',
  date:      'a date such as 2026-11-23',
  datetime:  'a date and time such as 2026-11-23T12:00:00Z',
  duration:  'a length of time such as PT5M',
  email:     'an e-mail address',
  guid:      'a UUID such as 0190ab12-3456-7890-abcd-ef0123456789',
  ipv4:      'an IPv4 address',
  ipv6:      'an IPv6 address',
  jwt:       'a JWT',
  time:      'a time such as 12:00:00',
  uuid:      'a UUID such as 0190ab12-3456-7890-abcd-ef0123456789',
}

/** The unit of the length of a type. */
const units: Readonly<Record<string, readonly [one: string, many: string]>> = {
  array: ['entry', 'entries'],
  file: ['byte', 'bytes'],
  map: ['entry', 'entries'],
  object: ['field', 'fields'],
  record: ['field', 'fields'],
  set: ['entry', 'entries'],
  string: ['character', 'characters'],
}

/** The message of an issue, without the value. */
export function describeIssue(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return describeType(issue)
    case 'invalid_value':
      return describeValue(issue)
    case 'too_big':
      return describeSize(issue, Number(issue.maximum), issue.inclusive ? 'at most' : 'less than')
    case 'too_small':
      return describeSize(issue, Number(issue.minimum), issue.inclusive ? 'at least' : 'more than')
    case 'invalid_format':
      return describeFormat(issue)
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    case 'unrecognized_keys':
      return `must not have ${listOf(issue.keys.slice(0, maxNames).map((key) => JSON.stringify(key.slice(0, 100))))}, which is not known here`
    case 'invalid_key':
      return 'has a name that is not allowed'
    case 'invalid_union':
      return describeUnion(issue)
    case 'invalid_element':
      return 'has an entry that is not allowed'
    default:
      return 'is not allowed'
  }
}

const maxNames = 5

function describeValue({ values, input }: Extract<Issue, { code: 'invalid_value' }>): string {
  const wanted = listOf(values.map((value) => JSON.stringify(value) ?? String(value)))
  return values.some((value) => typeof value === typeof input)
    ? `must be ${wanted}`
    : describeKind(wanted, input)
}

function describeType({ expected, input }: Extract<Issue, { code: 'invalid_type' }>): string {
  const wanted = things[expected] ?? expected
  return expected === 'int' ? `must be ${wanted}` : describeKind(wanted, input)
}

function describeKind(wanted: string, input: unknown): string {
  if (input === undefined) return `is missing: it must be ${wanted}`
  if (typeof input === 'number' && !Number.isFinite(input)) return `must be ${wanted}`
  const given = input === null ? 'null' : Array.isArray(input) ? 'array' : typeof input
  return `must be ${wanted}, and is ${things[given] ?? given}`
}

function describeSize(
  issue: Extract<Issue, { code: 'too_big' | 'too_small' }>,
  limit: number,
  than: string,
): string {
  const unit = units[issue.origin]
  if (!unit) return `must be ${issue.exact ? '' : `${than} `}${limit}`
  if (issue.code === 'too_small' && limit === 1 && issue.inclusive && !issue.exact) return 'must not be empty'
  return `must have ${issue.exact ? 'exactly' : than} ${limit} ${unit[limit === 1 ? 0 : 1]}`
}

function describeFormat(issue: Extract<Issue, { code: 'invalid_format' }>): string {
  const { format, pattern, input } = issue
  if (format === 'url') return describeUrl(String(input), issue.inst)
  if (format === 'starts_with') return `must begin with ${JSON.stringify(issue['prefix'])}`
  if (format === 'ends_with') return `must end with ${JSON.stringify(issue['suffix'])}`
  if (format === 'includes') return `must contain ${JSON.stringify(issue['includes'])}`
  if (format === 'regex') return `must match the pattern ${pattern}`
  return `must be ${formats[format] ?? `of the format ${format}`}`
}

/** `type` is the schema, which has the allowed protocols. */
function describeUrl(text: string, type: Issue['inst']): string {
  const [, port] = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*:(\d{1,10})(?:[/?#]|$)/i.exec(text) ?? []
  if (Number(port) > 65_535) return `has the port ${port}, and the highest port is 65535`
  const { protocol } = (type?._zod.def ?? {}) as { protocol?: RegExp }
  const kind = protocol?.source.includes('http') ? 'http or https URL' : 'URL'
  return `must be an absolute ${kind} such as https://example.com/path`
}

function describeUnion(issue: Extract<Issue, { code: 'invalid_union' }>): string {
  const { options } = issue as { options?: unknown[] }
  if (options) return `must be ${listOf(options.map((value) => JSON.stringify(value) ?? String(value)))}`
  const wanted = issue.errors.flatMap((each) => (each.length === 1 ? wordsOf(each[0]!) : [undefined]))
  if (wanted.length === 0 || wanted.includes(undefined)) return 'has none of the forms that are allowed'
  return describeKind(listOf([...new Set(wanted as string[])]), issue.input)
}

/**
 * The values or the type that an alternative allows. It contains undefined for an alternative that cannot be
 * listed.
 */
function wordsOf(issue: z.core.$ZodIssue): (string | undefined)[] {
  if (issue.path.length > 0) return [undefined]
  if (issue.code === 'invalid_value')
    return issue.values.map((value) => JSON.stringify(value) ?? String(value))
  return issue.code === 'invalid_type' ? [things[issue.expected]] : [undefined]
}

function listOf(words: readonly string[]): string {
  return words.join(', ').replace(/, ([^,]*)$/, ' or $1')
}

z.config({ localeError: describeIssue })
