/** Calls as the lines that one would type. */
import { splitKey } from '../client/api.ts'

export type Input = { path?: Record<string, unknown>; query?: Record<string, unknown>; body?: unknown }

/** The variables of the shell that hold the base URL and the key, without `$`, and the header that takes the key. */
export type Caller = { base: string; header: 'apikey' | 'x-admin-api-key'; key: string }

/**
 * The `curl` line of a call. `names` gives values that stand in variables of the shell, such as DIDs, which are too long to
 * read. `$JSON` is the header that says what the body is.
 */
export function curlLine(
  key: string,
  input: Input,
  { base, header, key: secret }: Caller,
  names: ReadonlyMap<string, string>,
): string {
  const [method, path] = splitKey(key)
  const target = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    replaceNamed(String(input.path?.[name]), names, (variable) => `$${variable}`),
  )
  const query = new URLSearchParams(
    Object.entries(input.query ?? {}).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString()
  const words = [
    'curl',
    ...(method === 'GET' || (method === 'POST' && input.body !== undefined) ? [] : ['-X', method]),
    query === '' ? `$${base}${target}` : `"$${base}${target}?${query}"`,
    '-H',
    `"${header}: $${secret}"`,
  ]
  if (input.body !== undefined)
    words.push(
      '-H',
      '"$JSON"',
      '-d',
      replaceNamed(quote(JSON.stringify(input.body)), names, (variable, value) =>
        /\s/.test(value) ? `'"$${variable}"'` : `'$${variable}'`,
      ),
    )
  return words.join(' ')
}

/** Quotes a text for a POSIX shell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** The longest first: one value may hold another. */
function replaceNamed(
  text: string,
  names: ReadonlyMap<string, string>,
  written: (variable: string, value: string) => string,
): string {
  const byLength = [...names].toSorted(([one], [other]) => other.length - one.length)
  return byLength.reduce(
    (result, [value, name]) => result.replaceAll(value, () => written(name, value)),
    text,
  )
}
