/** OpenID4VC: offers and requests as links for wallets, and links of others. */
import { defaultOpenIdFormat, formatNames, traitsOf } from '../../../src/definitions/format-names.ts'
import { type Configuration, listConfigurations } from '../../client/configurations.ts'
import { tokenTitles } from '../../input/credential.ts'
import { UsageError } from '../../errors/errors.ts'
import { readClaims } from '../../input/claims.ts'
import { parseIssuer } from '../../input/issuers.ts'
import { verifierFields } from '../../format/dcql.ts'
import type { Candidates } from '../../format/proof-request.ts'
import { safeLine, shorten } from '../../format/text.ts'
import type { Answer } from '../../client/api.ts'
import type { DcqlQuery } from '../../../src/credentials/dcql/query.ts'
import { queryOf, subjectPath } from '../../../src/credentials/dcql/query-of.ts'
import type { PresentationRecord } from '../data/data.ts'
import type { Field } from '../session/prompt.ts'
import type { ActionContext } from './action.ts'
import { titleColumns } from './claims.ts'
import { chooseSigner } from './did.ts'

/** Asks for the credential of an OpenID4VCI issuer that is offered. Undefined on Esc. */
export async function chooseConfiguration({
  call,
  choose,
}: ActionContext): Promise<Configuration | undefined> {
  const all = await listConfigurations(call)
  if (all.length === 0)
    throw new UsageError(
      'No OpenID4VCI issuer of this wallet offers a credential yet. A command makes the first.',
      'agent credential offer --oid4vci --claim name=value',
    )
  return choose(
    'Which credential is offered?',
    all.map((each) => ({ label: each.label, detail: each.detail, value: each })),
  )
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
  { issuerId, configurationId: credentialConfigurationId }: Configuration,
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

type KnownType = Answer<'GET /credential-types'>['contents'][number]

/** Requests a proof from any wallet of OpenID4VP, and shows the link. */
export async function requestFromWallet(context: ActionContext): Promise<string | undefined> {
  const type = await chooseType(context)
  if (type === undefined) return undefined
  const own = type === 'another' ? undefined : type.issuedBy?.issuingDID
  const signer = own === undefined ? await chooseSigner(context) : { did: own }
  if (!signer) return undefined
  const form = type === 'another' ? typedForm : formOf(type)
  const values = await context.fill('Proof request for a wallet', form.fields, {
    check: (given) => {
      form.query(given)
      parseIssuer(given['issuer'])
    },
  })
  if (!values) return undefined
  context.say('Requesting …')
  const made = await context.call('POST /present-proof/presentations/openid4vp', {
    body: { dcqlQuery: form.query(values), did: signer.did, issuers: parseIssuer(values['issuer']) },
  })
  await context.showNewInvitation('proofs', made)
  return 'The request is created. The first wallet that reads it can answer it.'
}

/** Asks for a type that this wallet issues or holds, or another, which is typed. Undefined on Esc. */
async function chooseType({ call, choose }: ActionContext): Promise<KnownType | 'another' | undefined> {
  const { contents } = await call('GET /credential-types')
  if (contents.length === 0) return 'another'
  return choose<KnownType | 'another'>('Which credential is requested?', [
    ...contents.map((type) => ({
      label: type.name,
      detail: type.issuedBy ? 'issued by this wallet' : 'held by this wallet',
      value: type,
    })),
    { label: 'Another', detail: 'you write its type', value: 'another' as const },
  ])
}

/** A form, and the query of its values. */
type Form = { fields: Field[]; query: (values: Readonly<Record<string, string>>) => DcqlQuery }

/** The claims of a known type, each of which is requested or not. */
function formOf({ format, types, claims, issuedBy, heldFrom }: KnownType): Form {
  const named = claims.map((claim, index) => ({ ...claim, field: `claim ${index + 1}` }))
  return {
    fields: [
      ...named.map(({ field, name, title = name }) => ({
        name: field,
        label: shorten(title, titleColumns),
        value: 'yes',
        words: ['yes', 'no'],
        help: `Whether ${name} is requested.`,
      })),
      { ...issuerField, value: issuedBy?.issuingDID ?? heldFrom ?? '' },
    ],
    query(values) {
      const asked = named.filter(({ field }) => values[field] === 'yes')
      const paths = asked.map(({ name }) => subjectPath(format, [name]))
      return queryOf({ format, types, isBound: true }, paths)
    },
  }
}

const typedForm: Form = {
  fields: [
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
  query({ type = '', format: name = '', ...others }) {
    if (type.trim() === '')
      throw new UsageError('A request needs a type: that of the credentials to present.')
    const { id: format } = formatNames[tokenTitles[name]!].openid
    const paths = Object.entries(others)
      .filter(([field, value]) => field.startsWith('claim') && value !== '')
      .map(([, value]) => subjectPath(format, [value]))
    return queryOf({ format, types: [type.trim()], isBound: true }, paths)
  },
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
