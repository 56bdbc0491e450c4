/** Formats issuer certificates, and reads the flags that describe one. */
import * as Flags from '@oclif/core/flags'
import type { Answer } from '../client/api.ts'
import type { FlagValues } from '../define-command.ts'
import { repeatable } from '../input/arguments.ts'
import { UsageError } from '../errors/errors.ts'
import { inStyle } from './colour.ts'

export type Certificate = Answer<'GET /issuer-certificates/{id}'>

const styles = { requested: 'waiting', ready: 'good', expired: 'bad', revoked: 'bad' } as const

export function certificateState({ state }: Certificate) {
  return inStyle(styles[state], state)
}

export function certificateFields(certificate: Certificate): [name: string, value: unknown][] {
  const { id, profile, subject, names, publicKey, isDevelopment, x5c, root, notAfter, createdAt } =
    certificate
  const authority = isDevelopment ? 'development: only verifiers that import its root trust it' : 'external'
  const { authority: signedBy, revokedAt, warnings = [] } = certificate
  return [
    ['certificate', id],
    ['state', certificateState(certificate)],
    ['profile', profile],
    ['subject', subject],
    ...names.map(({ type, value }): [string, unknown] => [type, value]),
    ['key', profile && publicKey.crv],
    ['authority', x5c && authority],
    ['signed by', signedBy?.subject],
    ['authority key id', signedBy?.keyId],
    ['certificates', x5c && (root === undefined ? x5c.length : `${x5c.length}, and the root`)],
    ['ends', notAfter],
    ['revoked', revokedAt],
    ['created', createdAt],
    ...warnings.map((warning): [string, unknown] => ['warning', warning]),
  ]
}

export const subjectFlags = {
  name: Flags.string({ required: true, description: 'name of the issuer (CN of the subject)' }),
  organization: Flags.string({ description: 'organization (O of the subject)' }),
  country: Flags.string({ description: 'country code of two letters (C of the subject)' }),
  province: Flags.string({ description: 'province or state (ST of the subject)' }),
  dns: Flags.string({ ...repeatable, description: 'host name of the issuer; may be repeated' }),
  uri: Flags.string({ ...repeatable, description: 'URL of the issuer; may be repeated' }),
  // The flag --profile is that of the daemon.
  for: Flags.option({ options: ['mdoc', 'reader'] as const })({
    description: 'mdoc: documents of ISO mdoc; reader: requests for them (the profile of the certificate)',
  }),
  curve: Flags.option({ options: ['P-256', 'P-384', 'P-521', 'Ed25519'] as const })({
    description: 'curve of the key, with --for; default: P-256',
    dependsOn: ['for'],
  }),
}

type SubjectFlags = FlagValues<typeof subjectFlags>

/** The body of a request for a certificate. @throws {UsageError} without a name for verifiers, or a country */
export function toCertificateInput({ name, dns = [], uri = [], for: profile, ...flags }: SubjectFlags) {
  if (profile === undefined && dns.length + uri.length === 0)
    throw new UsageError('Name the issuer for verifiers: --uri <its URL> or --dns <its host name>.')
  if (profile === 'mdoc' && flags.country === undefined)
    throw new UsageError('Name the country of the documents: --country <two letters>.')
  const names = [
    ...dns.map((value) => ({ type: 'dns' as const, value })),
    ...uri.map((value) => ({ type: 'uri' as const, value })),
  ]
  const { organization, country, province, curve } = flags
  return {
    commonName: name,
    organization,
    country,
    province,
    profile,
    curve,
    ...(names.length > 0 && { names }),
  }
}
