/** Parts of the commands about the credentials that an OpenID4VCI issuer offers. */
import * as Flags from '@oclif/core/flags'
import type { Answer } from './client/api.ts'
import type { FlagValues } from './define-command.ts'
import { nameOf } from './format/locale.ts'
import { whenAgo } from './format/time.ts'
import { repeatable } from './input/arguments.ts'
import { readJson } from './input/files.ts'
import { readSeconds } from './input/time.ts'
import type { Pair } from './output.ts'

type Configuration = Answer<'POST /oid4vci/issuers/{issuerId}/credential-configurations'>

/** Flags for the members of a credential configuration: a new one, or one to be updated. */
export const configurationFlags = {
  'issuing-did': Flags.string({
    exclusive: ['certificate'],
    description: 'DID of the wallet that signs, unless an offer names another',
  }),
  integrity: Flags.boolean({
    allowNo: true,
    description: 'whether SD-JWT VCs have the digest of their type metadata, which then cannot change',
  }),
  'always-disclosed': Flags.string({
    ...repeatable,
    description: 'claim of an SD-JWT VC that each verifier sees',
  }),
  'key-storage': Flags.string({
    ...repeatable,
    dependsOn: ['key-attestation'],
    description: 'accepted resistance of the key storage, such as iso_18045_high; default: any',
  }),
  'user-authentication': Flags.string({
    ...repeatable,
    dependsOn: ['key-attestation'],
    description: 'accepted resistance of the user authentication; default: any',
  }),
  begin: Flags.option({ options: ['offer', 'log-in', 'presentation', 'open'] as const })({
    description:
      'what begins an issuance: an offer; also a wallet whose person logs in, or presents credentials; or also any wallet, such as for a voucher',
  }),
  presentation: Flags.string({
    description:
      'what the person has to present before, as JSON: @proof.json, with dcqlQuery, issuers and match',
  }),
  renewal: Flags.string({
    description:
      'how long a wallet may let pass between two renewals of the credential: 90d; at most a year; 0 ends renewal',
  }),
  'renewal-on-change': Flags.option({
    options: ['keep', 'revoke'] as const,
    dependsOn: ['renewal'],
    description:
      'whether older copies with other claims expire, or are revoked when the wallet has the new ones or after 7 days; default: keep',
  })(),
  'claims-source': Flags.string({
    description: 'https URL that is asked for the claims when a wallet requests the credential',
  }),
  'on-failure': Flags.option({
    options: ['defer', 'fail'] as const,
    dependsOn: ['claims-source'],
    description:
      'while the source does not answer: defer lets the wallet wait, fail tells it to request again; default: defer',
  })(),
  'keep-claims': Flags.boolean({
    allowNo: true,
    dependsOn: ['claims-source'],
    description: 'whether the record keeps the claims of the source; default: yes',
  }),
  certificate: Flags.string({
    description:
      'issuer certificate that signs mdocs, and SD-JWT VCs instead of a DID: its id, or the end of the id',
  }),
}

export const keyAttestation = 'require a key attestation of a wallet provider that the issuer trusts'

/** The members of a configuration that the flags give. */
export function settingsOf(flags: Partial<FlagValues<typeof configurationFlags>>) {
  return {
    issuingDID: flags['issuing-did'],
    issuerCertificateId: flags.certificate,
    alwaysDisclosed: flags['always-disclosed'],
    integrity: integrityOf(flags.integrity),
    begin: flags.begin,
    presentation: presentationOf(flags.presentation),
    renewal: renewalOf(flags.renewal, flags['renewal-on-change']),
    claimsSource:
      flags['claims-source'] === undefined
        ? undefined
        : {
            url: flags['claims-source'],
            onFailure: flags['on-failure'],
            keepClaims: flags['keep-claims'],
          },
  }
}

/** `false` leaves the digest out, null writes it. */
function integrityOf(isWritten: boolean | undefined): false | null | undefined {
  if (isWritten === undefined) return undefined
  return isWritten ? null : false
}

/** The key attestation that is required: null for none, undefined if no flag says it. */
export function attestationOf(
  isRequired: boolean | undefined,
  flags: Partial<FlagValues<typeof configurationFlags>>,
) {
  if (isRequired === undefined) return undefined
  return isRequired
    ? { keyStorage: flags['key-storage'], userAuthentication: flags['user-authentication'] }
    : null
}

export const configurationFields = (configuration: Configuration): Pair[] => [
  ['configuration', configuration.configurationId],
  ['name', nameOf(configuration.display)],
  ['languages', configuration.display?.flatMap(({ locale }) => locale ?? []).join(', ') || undefined],
  ['format', configuration.format],
  ['schema', configuration.schemaId],
  ['type', configuration.vct ?? configuration.doctype],
  ['issuing DID', configuration.issuingDID],
  ['renewal', configuration.renewal && `${configuration.renewal.days} d`],
  ['on other claims', configuration.renewal?.onChange === 'revoke' ? 'older copies are revoked' : undefined],
  ['version of the type', configuration.typeVersion],
  ['begins by', beginnings[configuration.begin ?? 'offer']],
  ['presentation before', shownPresentation(configuration)],
  ['always disclosed', configuration.alwaysDisclosed?.join(', ')],
  ['key attestation', shownRequirement(configuration)],
  ['certificate', configuration.issuerCertificateId],
  ['claims source', shownSource(configuration)],
  ['created', whenAgo(configuration.createdAt, Date.now())],
]

/** The agent checks the members. */
function presentationOf(text: string | undefined) {
  if (text === undefined) return undefined
  return readJson('presentation', text) as NonNullable<Configuration['presentation']>
}

/** Whole days; null ends the renewal. */
function renewalOf(text: string | undefined, onChange: 'keep' | 'revoke' | undefined) {
  if (text === undefined) return undefined
  if (text === '0') return null
  const days = Math.ceil(readSeconds('renewal', text) / 86_400)
  return { days, ...(onChange !== undefined && { onChange }) }
}

const beginnings = {
  offer: undefined,
  'log-in': 'a log-in of the person, or an offer',
  presentation: 'a presentation of the person, or an offer',
  open: 'any wallet, or an offer',
} as const

function shownRequirement({ keyAttestation }: Configuration): string | undefined {
  if (!keyAttestation) return undefined
  const { keyStorage = [], userAuthentication = [] } = keyAttestation
  return ['required', ...keyStorage, ...userAuthentication].join(', ')
}

function shownPresentation({ presentation }: Configuration): string | undefined {
  if (!presentation) return undefined
  const { dcqlQuery, issuers, match = [] } = presentation
  const asked = dcqlQuery.credentials.map(({ id }) => id)
  const matched = match.map(({ offered }) => offered.join('.'))
  const by = Array.isArray(issuers) ? issuers.join(', ') : `${issuers} issuers`
  return `${asked.join(', ')} of ${by}${matched.length > 0 ? `, with the ${matched.join(', ')} of the offer` : ''}`
}

function shownSource({ claimsSource }: Configuration): string | undefined {
  if (!claimsSource) return undefined
  const { url, onFailure, keepClaims } = claimsSource
  return [url, onFailure === 'fail' && 'fails without an answer', !keepClaims && 'claims are not kept']
    .filter(Boolean)
    .join(', ')
}
