/** The verification API (api.md 4.13): credentials of anybody, each checked for what the caller asks. Nothing is stored. */
import { setImmediate } from 'node:timers/promises'
import { Problem } from '../base/problem.ts'
import { VerificationError } from '../credentials/verification-error.ts'
import { checks, type Sources } from './checks.ts'
import {
  parameterOf,
  type RequestedVerification,
  type VcVerificationName,
  type VcVerificationRequest,
} from './model.ts'
import type { VcVerificationResponse, VcVerificationResult } from './model.ts'
import { toToken } from './token.ts'

/** Credentials that are looked at at a time: each may wait for somebody else's host. */
const concurrency = 8

/**
 * Checks credentials; a check that fails is an answer, in the order of the request.
 *
 * `now` is in epoch milliseconds.
 *
 * @throws {Problem} 400 for a comparison with a token that has no payload, naming its index; `error:ServiceUnavailable` when a check cannot be made for now,
 * which says nothing of any credential.
 */
export async function verifyCredentials(
  requests: VcVerificationRequest[],
  sources: Sources,
  now: number,
): Promise<VcVerificationResponse[]> {
  const responses: VcVerificationResponse[] = []
  for (let first = 0; first < requests.length; first += concurrency) {
    const batch = requests.slice(first, first + concurrency)
    responses.push(
      ...(await Promise.all(
        batch.map((request, at) => verifyCredential(request, sources, now).catch(naming(first + at))),
      )),
    )
  }
  return responses
}

/** Says of a refusal which credential of the request it is about. */
function naming(index: number): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof Problem) || error.status !== 400) throw error
    throw new Problem(error.type, `${index}.credential: ${error.message}`, {
      title: error.title,
      cause: error,
    })
  }
}

async function verifyCredential(
  { credential, verifications }: VcVerificationRequest,
  sources: Sources,
  now: number,
) {
  const token = toToken(credential)
  const wanted = verifications.length > 0 ? verifications : allOf(now)
  const result: VcVerificationResult[] = []
  for (const { verification, parameter } of wanted) {
    // Checks may work for a tenth of a second each; others have their turn in between.
    await setImmediate()
    const success = await succeeds(() => checks[verification](token, parameter, sources))
    result.push({ verification, success })
  }
  return { credential, result }
}

/** What an empty list means: every check that needs no DID to compare with, the dates as of now. */
function allOf(now: number): RequestedVerification[] {
  const parameter = { parameterType: 'DateTimeParameter' as const, dateTime: new Date(now).toISOString() }
  const names = Object.keys(parameterOf) as VcVerificationName[]
  return names.flatMap((verification) => {
    if (parameterOf[verification] === 'DidParameter') return []
    return [{ verification, parameter: parameterOf[verification] && parameter }]
  })
}

async function succeeds(check: () => unknown): Promise<boolean> {
  try {
    await check()
    return true
  } catch (error) {
    if (error instanceof VerificationError) return false
    throw error
  }
}
