/** Claims from flags: `--claim name=value` for texts, `--claim age:=42` for any other JSON, `--claims @file.json` for all at once. */
import { UsageError } from '../errors/usage.ts'
import { readObject, type Json } from './json.ts'

/**
 * Puts claims together; what `--claim` says goes over what `--claims` says.
 *
 * @throws {UsageError} when there is none, one is named twice, or one is not in the form `name=value` or `name:=json`.
 */
export function readClaims(flags: {
  claim?: readonly string[] | undefined
  claims?: string | undefined
}): Record<string, Json> {
  const pairs = (flags.claim ?? []).map(readClaim)
  const twice = pairs.find(([name], index) => pairs.findIndex(([other]) => other === name) !== index)
  if (twice) throw new UsageError(`--claim names ${JSON.stringify(twice[0])} twice.`)
  const claims = {
    ...(flags.claims !== undefined && readObject('claims', flags.claims)),
    ...Object.fromEntries(pairs),
  }
  if (Object.keys(claims).length === 0)
    throw new UsageError('There is nothing to attest to: give --claim name=value, or --claims @file.json.')
  return claims
}

/** One claim: the first `=` ends its name, and a colon before it makes the value JSON. */
function readClaim(text: string): [name: string, value: Json] {
  const equals = text.indexOf('=')
  const isJson = text[equals - 1] === ':'
  const name = text.slice(0, isJson ? equals - 1 : equals)
  if (equals === -1 || name === '')
    throw new UsageError(`--claim ${JSON.stringify(text)} is not in the form name=value, or name:=json.`)
  const value = text.slice(equals + 1)
  if (!isJson) return [name, value]
  try {
    return [name, JSON.parse(value) as Json]
  } catch {
    throw new UsageError(`--claim ${name}: what follows := is not JSON. For a text write ${name}=value.`)
  }
}
