/** Formats issuer certificates, and reads the flags that describe one. */
import * as Flags from '@oclif/core/flags'
import type { Answer } from '../client/api.ts'
import type { FlagValues } from '../define-command.ts'
import { repeatable } from '../input/arguments.ts'
import { UsageError } from '../errors/errors.ts'
import { inStyle } from './colour.ts'

export type Certificate = Answer<'GET /issuer-certificates/{id}'>

const styles = { requested: 'waiting', ready: 'good', expired: 'bad' } as const

export function certificateState({ state }: Certificate) {
  return inStyle(styles[state], state)
}

export function certificateFields(certificate: Certificate): [name: string, value: unknown][] {
  const { id, subject, names, isDevelopment, x5c, root, notAfter, createdAt } = certificate
  const authority = isDevelopment ? 'development: only verifiers that import its root trust it' : 'external'
  return [
    ['certificate', id],
    ['state', certificateState(certificate)],
    ['subject', subject],
    ...names.map(({ type, value }): [string, unknown] => [type, value]),
    ['authority', x5c && authority],
    ['certificates', x5c && (root === undefined ? x5c.length : `${x5c.length}, and the root`)],
    ['ends', notAfter],
    ['created', createdAt],
  ]
}

export const subjectFlags = {
  name: Flags.string({ required: true, description: 'name of the issuer (CN of the subject)' }),
  organization: Flags.string({ description: 'organization (O of the subject)' }),
  country: Flags.string({ description: 'country code of two letters (C of the subject)' }),
  dns: Flags.string({ ...repeatable, description: 'host name of the issuer; may be repeated' }),
  uri: Flags.string({ ...repeatable, description: 'URL of the issuer; may be repeated' }),
}

type SubjectFlags = FlagValues<typeof subjectFlags>

/** The body of a request for a certificate. @throws {UsageError} without a name for verifiers */
export function toCertificateInput({ name, organization, country, dns = [], uri = [] }: SubjectFlags) {
  if (dns.length + uri.length === 0)
    throw new UsageError('Name the issuer for verifiers: --uri <its URL> or --dns <its host name>.')
  const names = [
    ...dns.map((value) => ({ type: 'dns' as const, value })),
    ...uri.map((value) => ({ type: 'uri' as const, value })),
  ]
  return { commonName: name, organization, country, names }
}
