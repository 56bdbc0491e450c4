/** The steps of a wallet application with the SDK's functions, and those of the issuer. */
import { randomUUID } from 'node:crypto'
import type { Agent, Domain } from '@hyperledger/identus-sdk'
import { connectionIn, credentialIn, type Tenant } from '../support/tenants.ts'
import type { Holder } from './_holder.ts'
import { sdk } from './_sdk.ts'

const { ProtocolType } = sdk

/** The wallet accepts an offer, with a new did:prism. */
export async function answerOffer(agent: Agent, message: Domain.Message, build: typeof sdk = sdk) {
  const request = await agent.prepareRequestCredentialWithIssuer(build.OfferCredential.fromMessage(message))
  await agent.sendMessage(request.makeMessage())
}

/** The wallet stores the issued credential. */
export function keepCredential(agent: Agent, message: Domain.Message, build: typeof sdk = sdk) {
  return agent.processIssuedCredentialMessage(build.IssueCredential.fromMessage(message))
}

/** The wallet presents a credential. */
export async function answerRequest(
  agent: Agent,
  message: Domain.Message,
  credential: Domain.Credential,
  build: typeof sdk = sdk,
) {
  const presentation = await agent.createPresentationForRequestProof(
    build.RequestPresentation.fromMessage(message),
    credential,
  )
  await agent.sendMessage(presentation.makeMessage())
}

/** The wallet accepts an invitation of the issuer. */
export async function connect(
  { agent, next }: Holder,
  { call }: Tenant,
  terms: { goal?: string; goalCode?: string } = {},
) {
  const { connectionId, thid, invitation } = await call('POST /connections', {
    body: { label: 'wallet', ...terms },
  })
  const parsed = await agent.parseInvitation(invitation.invitationUrl)
  await agent.acceptInvitation(parsed, 'issuer')
  const response = await next(ProtocolType.DidcommConnectionResponse)
  await connectionIn(call, thid, 'ConnectionResponseSent')
  return { connectionId, thid, parsed, response }
}

/** The wallet presents claims of its choice of an SD-JWT credential. The SDK's agent itself discloses none. */
export async function showClaims(
  { agent, show }: Holder,
  message: Domain.Message,
  credential: Domain.Credential,
  frame: object,
) {
  const { body, from, to, thid } = sdk.RequestPresentation.fromMessage(message)
  const attachment = sdk.Domain.AttachmentDescriptor.build(
    await show(credential, frame),
    randomUUID(),
    undefined,
    undefined,
    'vc+sd-jwt',
  )
  await agent.sendMessage(new sdk.Presentation(body, [attachment], to, from, thid).makeMessage())
}

type Offer = {
  connectionId: string
  issuingDID: string
  schemaId?: string
  claims: Record<string, any>
  validityPeriod: number
  credentialFormat?: 'SDJWT'
  issuingKid?: string
}

/** The issuer offers, the wallet accepts, the issuer issues, the wallet stores the credential. */
export async function issue({ agent, next }: Holder, { call }: Tenant, offer: Offer) {
  const { thid } = await call('POST /issue-credentials/credential-offers', { body: offer })
  await answerOffer(agent, await next(ProtocolType.DidcommOfferCredential))
  const { recordId } = await credentialIn(call, thid, 'RequestReceived')
  await call('POST /issue-credentials/records/{recordId}/issue-credential', { path: { recordId } })
  const credential = await keepCredential(agent, await next(ProtocolType.DidcommIssueCredential))
  return { thid, recordId, credential }
}

/** The issuer requests a presentation over a connection. */
export function ask(
  { call }: Tenant,
  connectionId: string,
  proofs: { schemaId: string; trustIssuers?: string[] }[] = [],
  more: { credentialFormat?: 'SDJWT'; claims?: Record<string, any> } = {},
) {
  const options = { challenge: randomUUID(), domain: 'https://verifier.example' }
  return call('POST /present-proof/presentations', { body: { connectionId, options, proofs, ...more } })
}
