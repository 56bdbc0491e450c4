/** Credentials as people hand them on: compact JWTs and SD-JWTs. */
import { readFileSync } from 'node:fs'
import { UsageError } from '../errors/usage.ts'
import { systemReason } from '../../src/base/system-reason.ts'

/** Reads a credential: the token itself, `@path`, or `-` for standard input. @throws {UsageError} when there is none. */
export function readCredential(text: string): string {
  const source = text === '-' || text === '@-' ? 0 : text.startsWith('@') ? text.slice(1) : undefined
  const given = (source === undefined ? text : readSource(source)).trim()
  if (given === '')
    throw new UsageError('There is no credential: give the token, @file, or - for standard input.')
  return given
}

/** The format of a credential by its shape: `header.payload.signature`, with `~` behind it for an SD-JWT; nothing for any other text. */
export function formatOf(credential: string): 'JWT' | 'SD-JWT' | undefined {
  const [, header = ''] = /^([\w-]+)\.[\w-]+\.[\w-]+(?:~[\w.~-]*)?$/.exec(credential) ?? []
  try {
    const { alg } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { alg?: unknown }
    return typeof alg === 'string' ? (credential.includes('~') ? 'SD-JWT' : 'JWT') : undefined
  } catch {
    return undefined
  }
}

/**
 * True when a credential says where its schemas are: the type of an SD-JWT does so when it is an address in a schema registry. What cannot be read
 * says nothing; why, the daemon tells.
 */
export function namesSchemas(credential: string): boolean {
  try {
    const payload = JSON.parse(Buffer.from(credential.split('.')[1] ?? '', 'base64url').toString()) as {
      vc?: { credentialSchema?: unknown }
      vct?: unknown
    } | null
    const { vc, vct } = payload ?? {}
    if (credential.includes('~')) return typeof vct === 'string' && /\bschema-registry\/schemas\//.test(vct)
    return [vc?.credentialSchema ?? []].flat().length > 0
  } catch {
    return false
  }
}

function readSource(source: string | 0): string {
  try {
    return readFileSync(source, 'utf8')
  } catch (error) {
    throw new UsageError(`The file ${source} cannot be read: ${systemReason(error)}.`)
  }
}
