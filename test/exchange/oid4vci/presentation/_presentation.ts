/**
 * An issuer that wants a proof before its credential, and the browser and the wallet of a person: each step
 * by itself.
 */
import { CompactEncrypt, importJWK } from 'jose'
import type { TestAgent } from '../../../support/agent.ts'
import { presentSdJwt, readRequest, respond, vct, type Presented } from '../../oid4vp/_wallet.ts'
import { publishSchema, type Tenant } from '../../../support/tenants.ts'
import {
  newPkce,
  offered,
  redirectUri,
  sealedIn,
  show,
  type Parameters,
  type Shown,
} from '../_authorization.ts'
import { addIssuer, type Issuer, type OfferOptions, type Setup } from '../_wallet.ts'

/** The credential `person` of a trusted issuer, with birth date and family name. */
export const presentation = {
  dcqlQuery: {
    credentials: [
      {
        id: 'person',
        format: 'dc+sd-jwt' as const,
        meta: { vct_values: [vct] },
        claims: [{ path: ['birthdate'] }, { path: ['family_name'] }],
      },
    ],
  },
  issuers: 'trusted' as const,
}

export const alice = { birthdate: '1990-01-31', family_name: 'Adams' }

const match = [{ presented: ['family_name'], offered: ['family_name'] }]

/**
 * An issuer of `Pass`, for which anybody presents who they are, and of `Card`, whose offer is for a family
 * name.
 */
export async function addPasses(
  agent: Pick<TestAgent, 'url'>,
  tenant: Tenant,
  asked: object = presentation,
): Promise<Setup> {
  const setup = await addIssuer(agent, tenant)
  const { issuerId } = setup
  const common = await configurePasses(setup)
  const free = { schemaId: (await publishPass(setup, [])).schemaId }
  for (const more of [
    { configurationId: 'Pass', presentation: asked, begin: 'presentation' },
    { configurationId: 'Free', presentation: asked, begin: 'presentation', ...free },
    { configurationId: 'Card', presentation: { ...asked, match } },
  ])
    await tenant.call('POST /oid4vci/issuers/{issuerId}/credential-configurations', {
      path: { issuerId },
      body: { ...common, ...more } as any,
    })
  return setup
}

let versions = 0

async function publishPass({ tenant, issuingDID }: Setup, required: string[]) {
  const schemaId = await publishSchema(tenant, issuingDID, {
    name: `pass-${versions++}`,
    properties: {
      birthdate: { type: 'string' },
      family_name: { type: 'string' },
      level: { type: 'string' },
    },
    required,
  })
  return { schemaId }
}

/** The members that configurations of passes have. The birth date is the presented one. */
export async function configurePasses(setup: Setup) {
  const claims = [{ path: ['birthdate'], from: 'presentation', as: ['birthdate'] }]
  const { schemaId } = await publishPass(setup, ['birthdate'])
  return { format: 'jwt_vc_json', schemaId, issuingDID: setup.issuingDID, claims }
}

export function trust({ call }: Tenant, did: string) {
  return call('POST /trust-anchors', { body: { type: 'did', value: did } })
}

/** An offer of `Card`, and a request for it. */
export async function offeredCard(setup: Setup, options: OfferOptions = {}) {
  const claims = { family_name: 'Adams', level: 'gold' }
  const made = await offered(setup, { credentialConfigurationId: 'Card', claims, ...options })
  return { ...made, parameters: { ...made.parameters, scope: 'Card' } }
}

/** A request for `Pass`, without an offer. */
export function requestedPass(scope = 'Pass') {
  const { verifier, challenge } = newPkce()
  const parameters: Parameters = {
    response_type: 'code',
    client_id: 'wallet',
    redirect_uri: redirectUri,
    scope,
    code_challenge: challenge,
    code_challenge_method: 'S256',
  }
  return { verifier, parameters }
}

/** Opens a page in the browser with a cookie. */
export const visit = (url: string | URL, cookie?: string): Promise<Shown> =>
  show(String(url), { headers: { accept: 'text/html', ...(cookie !== undefined && { cookie }) } })

/** Presses the button of a page that asks for a presentation. */
export function press(
  { identifier }: Issuer,
  page: Shown | { text: string },
  headers: Record<string, string> = {},
): Promise<Shown> {
  const body = new URLSearchParams({ request: sealedIn(page as Shown) }).toString()
  const type = 'application/x-www-form-urlencoded'
  return show(`${identifier}/presentation`, {
    method: 'POST',
    headers: { 'content-type': type, ...headers },
    body,
  })
}

/** Opens the page of an authorization request. */
export const enter = ({ identifier }: Issuer, parameters: Parameters): Promise<Shown> =>
  visit(`${identifier}/authorize?${new URLSearchParams(parameters as Record<string, string>).toString()}`)

export type Begun = Awaited<ReturnType<typeof begin>>

/** The page, the button, and the request to the wallet. */
export async function begin(issuer: Issuer, parameters: Parameters, cookie?: string) {
  const page = await enter(issuer, parameters)
  if (page.status !== 200) throw new Error(`${page.status}: ${page.text}`)
  return pressed(issuer, page, cookie)
}

/** The request behind the button of a page. */
export async function pressed(issuer: Issuer, page: Shown, cookie?: string) {
  const shown = await press(issuer, page, cookie === undefined ? {} : { cookie })
  if (shown.status !== 303) throw new Error(`${shown.status}: ${shown.text}`)
  const pageUrl = shown.location!.href
  const status = await fetch(pageUrl, { headers: { accept: 'application/json' } })
  const { authorizationRequest } = (await status.json()) as { authorizationRequest: string }
  const own = shown.headers.getSetCookie()[0]!.split(';')[0]!
  return { page, pageUrl, authorizationRequest, cookie: own }
}

/** A wallet answers. Returns where it sends the browser of its device. */
export async function presentTo({ authorizationRequest }: Begun, presented: Presented = {}) {
  const request = await readRequest(authorizationRequest)
  const names = Object.keys(alice)
  const vp = await presentSdJwt(request, { issued: { claims: alice }, claims: names, ...presented })
  return answerTo(request, { vp_token: { person: [vp] } })
}

/** A wallet declines. */
export async function declineAt({ authorizationRequest }: Begun) {
  return answerTo(await readRequest(authorizationRequest), { error: 'access_denied' })
}

/** Sends an encrypted answer. */
export async function answerTo(request: any, content: object) {
  const [key] = request.client_metadata.jwks.keys
  const response = await new CompactEncrypt(Buffer.from(JSON.stringify({ ...content, state: request.state })))
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A128GCM', kid: key.kid })
    .encrypt(await importJWK({ ...key }, 'ECDH-ES'))
  const { status, body } = await respond(request, { response })
  return { status, next: body.redirect_uri as string | undefined, body }
}

/** What the page of the request does when the wallet has answered: it goes on to the issuer. */
export async function goOn({ pageUrl, cookie }: Begun): Promise<Shown> {
  const { status, location, text } = await visit(pageUrl, cookie)
  if (status !== 303) throw new Error(`${status}: ${text}`)
  return visit(location!, cookie)
}
