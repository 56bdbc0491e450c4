/** The verification API: runs the requested checks on credentials of any issuer. Stores nothing. */
import { setImmediate } from 'node:timers/promises'
import { Problem } from '../../foundation/problem.ts'
import { VerificationError } from '../../credentials/codecs/verification-error.ts'
import { checks, type Sources } from './checks.ts'
import {
  parameterOf,
  type RequestedVerification,
  type VcVerificationName,
  type VcVerificationRequest,
  type VcVerificationResponse,
  type VcVerificationResult,
} from './model.ts'
import { formatOfText, formats } from '../../credentials/formats/index.ts'

/** Credentials checked at a time. Each may wait for another host. */
const concurrency = 8

/** Characters of a reason, which may quote the credential. */
const maxDetail = 1_000

/**
 * Checks credentials and returns the results in the order of the request. `now` is in epoch milliseconds.
 *
 * @throws {Problem} 400 with the index of a token without a payload; `error:ServiceUnavailable` when a check
 * is temporarily impossible.
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
        batch.map((request, at) => verifyCredential(request, sources, now).catch(withIndex(first + at))),
      )),
    )
  }
  return responses
}

function withIndex(index: number): (error: unknown) => never {
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
  const token = formats[formatOfText(credential)].partsOf(credential)
  const requested = verifications.length > 0 ? verifications : defaultVerifications(now)
  const result: VcVerificationResult[] = []
  for (const { verification, parameter } of requested) {
    // A check may take a tenth of a second. Let other requests proceed in between.
    await setImmediate()
    const fault = await faultOf(() => checks[verification](token, parameter, sources))
    result.push({
      verification,
      success: fault === undefined,
      ...(fault !== undefined && { detail: fault.slice(0, maxDetail) }),
    })
  }
  return { credential, result }
}

/** The checks of an empty list: all that need no DID to compare with, with dates as of now. */
function defaultVerifications(now: number): RequestedVerification[] {
  const parameter = { parameterType: 'DateTimeParameter' as const, dateTime: new Date(now).toISOString() }
  const names = Object.keys(parameterOf) as VcVerificationName[]
  return names.flatMap((verification) => {
    if (parameterOf[verification] === 'DidParameter') return []
    return [{ verification, parameter: parameterOf[verification] && parameter }]
  })
}

/** Why a check fails. Undefined if it does not. */
async function faultOf(check: () => unknown): Promise<string | undefined> {
  try {
    await check()
    return undefined
  } catch (error) {
    if (error instanceof VerificationError) return error.message
    throw error
  }
}
