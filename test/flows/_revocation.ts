/** Helpers for tests of revocation: presents a credential, and reads the published status list. */
import { decodeJwtVc } from '../credentials/codecs/_verify.ts'
import { expect } from 'vitest'
import { type CredentialStatus } from '../../src/credentials/codecs/jwt-vc.ts'
import { presentationIn, type Tenant } from '../support/tenants.ts'
import { libraries } from '../credentials/codecs/_status-lists.ts'
import { prove } from './_steps.ts'

/** The status of a credential. */
export function statusOf(
  credential: string,
): CredentialStatus & { statusListIndex: number; statusListCredential: string } {
  const [status, ...more] = decodeJwtVc(credential).statuses
  expect(more).toEqual([])
  return status as ReturnType<typeof statusOf>
}

/** Whether a credential is revoked in the list of its status, decoded by a third-party library. */
export async function isRevoked(credential: string): Promise<boolean> {
  const { statusListCredential, statusListIndex } = statusOf(credential)
  const response = await fetch(statusListCredential)
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json'])
  const { credentialSubject } = (await response.json()) as { credentialSubject: { encodedList: string } }
  const list = await (await libraries.StatusList2021).decodeList(credentialSubject)
  return list.getStatus(statusListIndex)
}

type Asked = { connectionId: string; statusCheck?: 'required' | 'if-available' | 'off' }

/** The verifier requests a presentation, and the prover presents credentials. Returns the thread. */
export async function present(
  verifier: Tenant,
  prover: Tenant,
  body: Asked,
  ...proofId: string[]
): Promise<string> {
  const { thid } = await verifier.call('POST /present-proof/presentations', { body })
  const { presentationId } = await presentationIn(prover.call, thid, 'RequestReceived')
  await prove(prover, presentationId, ...proofId)
  return thid
}

/** The reason why the verifier refused a presentation. */
export async function refusalOf(verifier: Tenant, thid: string): Promise<string> {
  return (await presentationIn(verifier.call, thid, 'PresentationVerificationFailed')).metaLastFailure!
    .detail!
}
