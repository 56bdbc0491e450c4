/** OpenID4VC: offers and requests as links for wallets, and links of others. */
import { defaultOpenIdFormat, formatNames, traitsOf } from '../../../src/definitions/format-names.ts'
import { tokenTitles } from '../../input/credential.ts'
import { UsageError } from '../../errors/errors.ts'
import { readClaims } from '../../input/claims.ts'
import { parseIssuer } from '../../input/issuers.ts'
import { verifierFields } from '../../format/dcql.ts'
import type { Candidates } from '../../format/proof-request.ts'
import { safeLine } from '../../format/text.ts'
import { queryOf, subjectPath } from '../../../src/credentials/dcql/query-of.ts'
import type { PresentationRecord } from '../data/data.ts'
import type { ActionContext } from './action.ts'
import { chooseSigner } from './did.ts'

type Configuration = { issuerId: string; credentialConfigurationId: string; isCertified: boolean }

/** Asks for the credential of an OpenID4VCI issuer that is offered. Undefined on Esc. */
export async function chooseConfiguration({
  call,
  choose,
}: ActionContext): Promise<Configuration | undefined> {
  const { contents: issuers } = await call('GET /oid4vci/issuers', {})
  const all = await Promise.all(
    issuers.map(async ({ id: issuerId }) => {
      const path = { issuerId }
      const { contents } = await call('GET /oid4vci/issuers/{issuerId}/credential-configurations', { path })
      return contents.map(({ configurationId, format, issuerCertificateId }) => ({
        label: configurationId,
        detail: `${format}  ${issuerId.slice(-8)}`,
        value: {
          issuerId,
          credentialConfigurationId: configurationId,
          isCertified: issuerCertificateId !== undefined,
        },
      }))
    }),
  )
  if (all.flat().length === 0)
    throw new UsageError(
      'No OpenID4VCI issuer of this wallet offers a credential yet: `agent issuer create` makes an issuer.',
      'agent issuer configuration add <issuer id> --id <name> --schema <guid>',
    )
  return choose('Which credential is offered?', all.flat())
}

type Offer = {
  claims: ReturnType<typeof readClaims>
  issuingDID?: string | undefined
  validityPeriod?: number | undefined
  txCode: boolean
}

/**
 * Makes an offer and shows its link until a wallet redeems it. The link and the code are not stored, so the
 * page is their only place.
 */
export async function offerToWallet(
  { call, say, until, goTo, showCode }: ActionContext,
  { issuerId, credentialConfigurationId }: Configuration,
  offered: Offer,
): Promise<string> {
  say('Offering …')
  const { recordId, credentialOffer, txCode } = await call(
    'POST /oid4vci/issuers/{issuerId}/credential-offers',
    {
      path: { issuerId },
      body: { ...offered, credentialConfigurationId, byReference: true, automaticIssuance: true },
    },
  )
  await until('the offer is in the list', ({ credentials }) =>
    credentials.some((each) => each.recordId === recordId),
  )
  goTo('credentials')
  const title = txCode === undefined ? 'Offer for a wallet' : `Offer for a wallet, transaction code ${txCode}`
  showCode({ title, url: credentialOffer, longUrl: credentialOffer }, ({ credentials }) =>
    credentials.some((each) => each.recordId === recordId && each.protocolState === 'OfferCreated'),
  )
  return txCode === undefined
    ? 'The offer is created. The first wallet that reads it gets the credential.'
    : `The offer is created. Its transaction code is ${txCode}: give it to the holder on another channel.`
}

/** Whose credentials a request accepts, in a form. */
export const issuerField = {
  name: 'issuer',
  label: 'issuer',
  value: '',
  hint: 'DID of the issuer that you trust, or any',
}

/** Requests a proof from any wallet of OpenID4VP, and shows the link. */
export async function requestFromWallet(context: ActionContext): Promise<string | undefined> {
  const signer = await chooseSigner(context)
  if (!signer) return undefined
  const values = await context.fill(
    'Proof request for a wallet',
    [
      { name: 'type', label: 'type', value: '', hint: 'vct of an SD-JWT VC, or type of a JWT credential' },
      {
        name: 'format',
        label: 'format',
        value: traitsOf(defaultOpenIdFormat).title,
        words: Object.keys(tokenTitles),
      },
      issuerField,
      { name: 'claim', label: 'claim', value: '', hint: 'name of a requested claim', many: true },
    ],
    {
      check: (given) => {
        checkType(given['type'])
        parseIssuer(given['issuer'])
      },
    },
  )
  if (!values) return undefined
  context.say('Requesting …')
  const made = await context.call('POST /present-proof/presentations/openid4vp', {
    body: { dcqlQuery: toQuery(values), did: signer.did, issuers: parseIssuer(values['issuer']) },
  })
  await context.showNewInvitation('proofs', made)
  return 'The request is created. The first wallet that reads it can answer it.'
}

function checkType(type = ''): void {
  if (type.trim() === '') throw new UsageError('A request needs a type: that of the credentials to present.')
}

function toQuery({ type = '', format: name = '', ...others }: Record<string, string>) {
  const { id: format } = formatNames[tokenTitles[name]!].openid
  const paths = Object.entries(others)
    .filter(([field, value]) => field.startsWith('claim') && value !== '')
    .map(([, value]) => subjectPath(format, [value]))
  return queryOf({ format, types: [type.trim()], isBound: true }, paths)
}

/** Reads a link of OpenID4VC. The person consents afterwards, with the record before them. */
export async function receiveLink(
  { call, say, goTo }: ActionContext,
  kind: 'offer' | 'request',
  link: string,
): Promise<string> {
  if (kind === 'offer') {
    say('Reading the offer …')
    await call('POST /issue-credentials/records/openid4vci', { body: { credentialOffer: link } })
    goTo('credentials')
    return 'The offer has arrived: a accepts it.'
  }
  say('Reading the request …')
  await call('POST /present-proof/presentations/openid4vp/requests', { body: { authorizationRequest: link } })
  goTo('proofs')
  return 'The request has arrived: p presents.'
}

/** The verifier of a request over OpenID4VP, and how far it can be trusted. */
export function verifierLines(record: PresentationRecord): string[] {
  return verifierFields(record)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}: ${safeLine(String(value))}`)
}

/** The claims that a candidate would disclose. Undefined: the request does not say. */
export function disclosed({ discloses }: Candidates['candidates'][number]): string | undefined {
  const claims = discloses?.flatMap((each) => each.claims)
  if (!claims) return undefined
  return claims.includes('*') ? 'all claims' : claims.map(safeLine).join(', ') || 'no further claims'
}
