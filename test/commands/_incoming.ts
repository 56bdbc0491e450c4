/** What another agent asks, of each kind and in each form, and the wallet that answers. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { toImage } from '../../cli/qr/files.ts'
import { connect, credentialIn, newDid, startPair } from '../support/tenants.ts'
import { untilEnd } from '../support/shared.ts'
import { newVerifierDid } from '../exchange/oid4vp/_wallet.ts'
import { afterAll } from 'vitest'
import { newUser } from './_cli.ts'

/** A question: the forms that a person can have, and the command that shows the answer to the one who asks. */
export type Asked = {
  short: string
  long: string
  json: string
  end: () => Promise<unknown>
  wanted: unknown
}

export const kinds = [
  'connection',
  'offer',
  'request',
  'did-request',
  'challenge',
  'openid4vci-offer',
  'openid4vp-request',
] as const
export type Kind = (typeof kinds)[number]

/** Acme asks, and Alice answers by commands. Alice holds a credential of Acme that its requests ask for. */
export async function startAsking() {
  const user = newUser()
  afterAll(() => user.remove())
  const pair = await untilEnd(startPair())
  const as = ({ apiKey }: { apiKey: string }) => user.as({ AGENT_URL: pair.agent.url, AGENT_API_KEY: apiKey })
  const [acme, alice] = [as(pair.issuer), as(pair.holder)]
  const { did: issuer } = await newDid(pair.issuer, 'assertionMethod')
  const { longFormDid: subject } = await newDid(pair.holder, 'authentication')
  await connect(pair.issuer, pair.holder)
  const properties = { name: { type: 'string', title: 'Name' } }
  const $schema = 'https://json-schema.org/draft/2020-12/schema'
  const schema = JSON.stringify({ $schema, type: 'object', properties })
  const { guid } = await acme.json`schema publish --name person --author ${issuer} --schema ${schema}`
  const { id: vci } = await acme.json`issuer create`
  await acme.json`issuer configuration add ${vci} --id Person --schema ${guid} --format sdjwt`
  const signer = await newVerifierDid({ tenant: pair.issuer })

  const offered = () =>
    acme.json`credential offer --oid4vci ${vci} --configuration Person --issuing-did ${issuer} --claim name=Alice`
  const held = await alice.json`oid4vc receive ${(await offered()).credentialOffer} --yes`
  const query = join(user.folder, 'query.json')
  const { out } = await alice.run`dcql from ${held.recordId} --claim name`
  writeFileSync(query, out)
  const jwt = await acme.json`credential offer --invitation --issuing-did ${issuer} --claim name=Alice --auto`
  const { recordId } = await alice.json`credential accept-invitation ${jwt.invitation.shortUrl}`
  await alice.json`credential accept ${recordId} --subject ${subject}`
  await credentialIn(pair.holder.call, jwt.thid, 'CredentialReceived')
  const { did: signInDid } = await pair.holder.call('POST /onboard/answers', {
    body: { shortUrl: (await acme.json`onboard create --from Acme`).shortUrl },
  })

  const byInvitation = ({ invitation }: any) => ({
    short: invitation.shortUrl as string,
    long: invitation.invitationUrl as string,
    json: Buffer.from(new URL(invitation.invitationUrl).searchParams.get('_oob')!, 'base64url').toString(),
  })
  const ask: Readonly<Record<Kind, () => Promise<Asked>>> = {
    connection: async () => {
      const made = await acme.json`connection invite --goal work`
      const end = async () => (await acme.json`connection show ${made.connectionId}`).state
      return { ...byInvitation(made), end, wanted: 'ConnectionResponseSent' }
    },
    offer: async () => {
      const made =
        await acme.json`credential offer --invitation --issuing-did ${issuer} --claim name=Alice --auto`
      const end = async () => (await acme.json`credential show ${made.recordId}`).protocolState
      return { ...byInvitation(made), end, wanted: 'CredentialSent' }
    },
    request: async () => {
      const made = await acme.json`proof request --invitation --trust-issuer ${issuer}`
      const end = async () => (await acme.json`proof show ${made.presentationId}`).status
      return { ...byInvitation(made), end, wanted: 'PresentationVerified' }
    },
    'did-request': async () => {
      const made = await acme.json`onboard create --from Acme`
      const json = JSON.stringify(made.didRequest)
      const end = async () => (await acme.json`onboard show ${made.id}`).state
      return { short: made.shortUrl, long: JSON.stringify(made), json, end, wanted: 'success' }
    },
    challenge: async () => {
      const made = await acme.json`auth create --from Acme`
      const json = JSON.stringify(made.challenge)
      const end = async () => (await acme.json`auth show ${made.id}`).state
      return { short: made.shortUrl, long: JSON.stringify(made), json, end, wanted: 'success' }
    },
    'openid4vci-offer': async () => {
      const made = await offered()
      const url = new URL(made.credentialOffer).searchParams.get('credential_offer_uri')!
      const json = await (await fetch(url)).text()
      const end = async () => (await acme.json`credential show ${made.recordId}`).protocolState
      return { short: made.credentialOffer, long: url, json, end, wanted: 'CredentialSent' }
    },
    'openid4vp-request': async () => {
      const { presentationId, openid4vp } =
        await acme.json`proof request --oid4vp --trust-issuer ${issuer} --dcql ${query} --signing-did ${signer}`
      const { searchParams } = new URL(openid4vp.authorizationRequest)
      const json = JSON.stringify(Object.fromEntries(searchParams))
      const end = async () => (await acme.json`proof show ${presentationId}`).status
      const long = searchParams.get('request_uri')!
      return { short: openid4vp.authorizationRequest, long, json, end, wanted: 'PresentationVerified' }
    },
  }
  /** Flags that a kind needs, because Alice has several DIDs or credentials. */
  const flags: Readonly<Record<Kind, (call?: unknown) => Promise<string[]>>> = {
    connection: async () => [],
    offer: async () => ['--did', subject],
    request: async () => ['--credential', recordId as string],
    'did-request': async () => [],
    challenge: async () => ['--did', signInDid!],
    'openid4vci-offer': async () => [],
    'openid4vp-request': async () => ['--credential', held.recordId as string],
  }
  let pictures = 0
  /** Writes the picture of a text's QR code. */
  const draw = (text: string): string => {
    const file = join(user.folder, `code-${pictures++}.png`)
    writeFileSync(file, toImage(text, 'png') as Uint8Array)
    return file
  }
  return { user, pair, acme, alice, ask, flags, draw }
}
