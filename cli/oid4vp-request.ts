/** `agent proof request --oid4vp`: requests a proof from wallets of OpenID4VP, by a URL. */
import * as Flags from '@oclif/core/flags'
import type { Answer, Input } from './client/api.ts'
import { readClaimsPath } from './dcql.ts'
import type { Context, FlagValues } from './define-command.ts'
import { presentationFields } from './format/proofs.ts'
import { isExpired, nextCommand } from './format/states.ts'
import { whenAhead } from './format/time.ts'
import { repeatable } from './input/arguments.ts'
import { readJson } from './input/files.ts'
import { acceptedBy, type IssuerFlags, readIssuers } from './input/issuers.ts'
import { readExpiresIn } from './input/time.ts'
import { answerLine, draw, type Scannable } from './invitation.ts'
import { onlyType, sayChosen } from './oid4vp-type.ts'
import { chooseQr, type QrChoice, type QrFlags } from './qr/flags.ts'
import { changeRecord, type Records, type WaitFlags } from './wait.ts'

const route = 'POST /present-proof/presentations/openid4vp'
const typeRoute = 'POST /present-proof/presentations/openid4vp/by-type'
type Body = Input<typeof route>['body']

const withOpenId = { dependsOn: ['oid4vp'] }
const signingDidFlag = Flags.string({
  ...withOpenId,
  description: 'DID of the wallet that signs the request; default: it is not signed',
})
const encryptFlag = Flags.boolean({ ...withOpenId, description: 'have the wallet encrypt its response' })

/** Flags of requests over OpenID4VP. */
export const openId4VpFlags = {
  oid4vp: Flags.boolean({
    description:
      'print a URL for wallets of OpenID4VP instead, for the credential of --type or the query of --dcql; it can be answered once',
  }),
  type: Flags.string({
    ...withOpenId,
    exclusive: ['dcql', 'schema', 'format'],
    description:
      'requested credential: the name, the vct or the configuration of a type that this wallet issues or holds; default: the only one',
  }),
  dcql: Flags.string({
    exclusive: ['schema', 'format'],
    helpValue: '<file>',
    description: 'file with the query for credentials and claims (DCQL); - for standard input',
  }),
  'signing-did': Flags.string({
    ...withOpenId,
    description:
      'DID of the wallet that signs the request; default: with --dcql it is not signed, with --type the only one',
  }),
  certificate: Flags.string({
    ...withOpenId,
    exclusive: ['signing-did'],
    description: 'id of the issuer certificate that signs the request',
  }),
  'same-holder': Flags.boolean({
    ...withOpenId,
    description: 'accept only credentials of one holder, if the query asks for several',
  }),
  'transaction-data': Flags.string({
    ...withOpenId,
    helpValue: '<file>',
    description: 'file with transactions that the person authorizes: an array in JSON (transaction_data)',
  }),
  'verifier-info': Flags.string({
    ...withOpenId,
    helpValue: '<file>',
    description:
      'file with attestations about the verifier, for a signed request: an array in JSON (verifier_info)',
  }),
  'dc-api': Flags.boolean({
    ...withOpenId,
    description: 'have the page of the request ask the browser for a wallet (Digital Credentials API)',
  }),
  origin: Flags.string({
    ...repeatable,
    dependsOn: ['dc-api'],
    description:
      'origin of the page that asks the browser, such as https://shop.example; default: this agent',
  }),
  encrypt: encryptFlag,
}

/** Flags of DID requests and challenges. */
export const sessionFlags = {
  oid4vp: Flags.boolean({ description: 'let wallets of OpenID4VP answer too, with a credential' }),
  dcql: Flags.string({
    ...withOpenId,
    helpValue: '<file>',
    description:
      'file with the query for the credential (DCQL); - for standard input; default: one that this wallet issues',
  }),
  'signing-did': signingDidFlag,
  'any-issuer': Flags.boolean({
    ...withOpenId,
    description: 'accept credentials of all issuers; default: of this wallet and its trust anchors',
  }),
  'any-holder': Flags.boolean({
    ...withOpenId,
    description: 'accept credentials of several holders, of whom the first answers; default: of one',
  }),
  encrypt: encryptFlag,
}

type OpenId4VpFlags = Partial<FlagValues<typeof openId4VpFlags>> & {
  'expires-in'?: string | undefined
  claim?: string[] | undefined
}

/** Reads a query from a file. The daemon validates it. @throws {UsageError} when it is not JSON */
export function readQuery(file: string): Body['dcqlQuery'] {
  return readJson('dcql', `@${file}`) as Body['dcqlQuery']
}

type OpenId4Vp = NonNullable<Input<'POST /onboard/did-requests'>['body']>['openid4vp']

/** The `openid4vp` of the request that the flags describe. */
export function openId4VpOf(flags: FlagValues<typeof sessionFlags>): OpenId4Vp {
  if (!flags.oid4vp) return undefined
  return {
    ...(flags.dcql !== undefined && { dcqlQuery: readQuery(flags.dcql) }),
    did: flags['signing-did'],
    ...(flags['any-issuer'] && { issuers: 'any' as const }),
    ...(flags['any-holder'] && { sameHolder: false }),
    ...(flags.encrypt && { responseMode: 'direct_post.jwt' as const }),
  }
}

/** Makes a request and prints its URL. With `--wait`, prints the record once it has reached the state. */
export async function requestFromWallet(
  context: Context<object, OpenId4VpFlags & IssuerFlags & WaitFlags & QrFlags>,
  { policyId, statusCheck }: Pick<Body, 'policyId' | 'statusCheck'>,
): Promise<Records['proof']> {
  const { flags, isQuiet, isJson, log, logJson, print, say } = context
  const qr = chooseQr(flags)
  const common = {
    did: flags['signing-did'],
    certificateId: flags.certificate,
    responseMode: modeOf(flags),
    origins: flags.origin,
    ...(flags['same-holder'] && { sameHolder: true }),
    transactionData: readOptional('transaction-data', flags['transaction-data']) as Body['transactionData'],
    verifierInfo: readOptional('verifier-info', flags['verifier-info']) as Body['verifierInfo'],
    policyId,
    statusCheck,
    expiresIn: readExpiresIn(flags['expires-in']),
  }
  const request = flags.dcql === undefined ? await byType(context, common) : await byQuery(context, common)
  return changeRecord(context, 'proof', {
    until: 'PresentationVerified',
    async change() {
      const record = await request()
      await sayChosen(context, record)
      const { presentationId, openid4vp } = record
      log(isQuiet ? presentationId : openid4vp!.authorizationRequest)
      if (!isQuiet)
        say(
          `\nproof    ${presentationId}\nexpires  ${whenAhead(openid4vp!.expiresAt, Date.now())}\npage     ${openid4vp!.pageUrl}\n${answerLine(openid4vp!.authorizationRequest)}`,
        )
      if (isJson && flags.wait !== undefined) logJson(record)
      return record
    },
    drawCode: (record) => draw(context, record.presentationId, toScannable(record), qr),
    print(made) {
      if (flags.wait !== undefined && !isQuiet) print(made.presentationId, presentationFields(made))
    },
    next: ({ presentationId: id, status }) => nextCommand('proof', status, id) ?? `agent proof show ${id}`,
  })
}

type Common = Omit<Body, 'dcqlQuery'>
type RequestContext = Context<object, OpenId4VpFlags & IssuerFlags>

/** A request for a query of a file. */
async function byQuery(context: RequestContext, common: Common): Promise<() => Promise<Records['proof']>> {
  const dcqlQuery = readQuery(context.flags.dcql!)
  const body = { ...common, dcqlQuery, issuers: await readIssuers(context, dcqlQuery) }
  return () => context.call(route, { body })
}

/** A request for a type that the wallet issues or holds. */
async function byType(
  context: RequestContext,
  common: Common,
): Promise<() => Promise<Answer<typeof typeRoute>>> {
  const { call, flags } = context
  const type = flags.type ?? (await onlyType(context))
  const claims = flags.claim?.map(readClaimsPath)
  const issuers = acceptedBy(flags)
  const body = { ...common, type, issuers, ...(claims && { claims }) }
  return () => call(typeRoute, { body })
}

function modeOf({ 'dc-api': isDigital = false, encrypt = false }: OpenId4VpFlags): Body['responseMode'] {
  if (isDigital) return encrypt ? 'dc_api.jwt' : 'dc_api'
  return encrypt ? 'direct_post.jwt' : undefined
}

function readOptional(name: string, file: string | undefined): unknown {
  return file === undefined ? undefined : readJson(name, `@${file}`)
}

/** Prints and draws a request again, below the fields of its record. Returns false if none can be answered. */
export async function printRequestAgain(
  context: Context,
  record: Records['proof'],
  qr: QrChoice,
): Promise<boolean> {
  const { status, openid4vp, presentationId } = record
  if (!openid4vp || status !== 'RequestCreated' || isExpired(record)) return false
  if (!context.isQuiet) context.log(`\n${openid4vp.authorizationRequest}`)
  await draw(context, presentationId, toScannable(record), qr)
  return true
}

function toScannable({ openid4vp }: Records['proof']): Scannable {
  const url = openid4vp!.authorizationRequest
  const page = openid4vp!.pageUrl
  const note = page.startsWith('http:') ? 'Most wallets require https.' : undefined
  return { text: url, code: url, page, note, hasPageCode: true }
}
