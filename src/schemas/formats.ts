/** The values of the keyword `format` that are checked; others are annotations, as JSON Schema 2020-12 lets them be. */
import type { Format } from 'ajv'
import addFormats, { type FormatName } from 'ajv-formats'

const names: FormatName[] = [
  'date-time',
  'date',
  'time',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uri',
  'uri-reference',
  'uuid',
  'json-pointer',
]

/** Longer texts have no format: some checks cut a text into as many pieces as it has letters. */
const maxLength = 2_000

/** The checks by name, for ajv's option `formats`. */
export const formats: Record<string, (text: string) => boolean> = Object.fromEntries(
  names.map((name) => {
    const matches = matcherOf(addFormats.default.get(name))
    return [name, (text: string) => text.length <= maxLength && matches(text)]
  }),
)

function matcherOf(format: Format): (text: string) => boolean {
  if (format instanceof RegExp) return (text) => format.test(text)
  if (typeof format === 'object') return matcherOf(format.validate as Format)
  return format as (text: string) => boolean
}
