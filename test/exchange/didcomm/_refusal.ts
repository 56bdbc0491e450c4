/** Expects a refusal by `UnpackingFailed`, not another error. */
import { expect } from 'vitest'
import { Problem } from '../../../src/foundation/problem.ts'
import { unpack, type UnpackOptions } from '../../../src/exchange/didcomm/unpack.ts'
import { as } from './_people.ts'

/**
 * The reason for which an envelope is refused. Fails when the envelope is accepted, or when another error
 * than the problem of the DIDComm endpoint is thrown.
 */
export async function refusal(
  envelope: string | Uint8Array,
  options: UnpackOptions = as('ben'),
): Promise<string> {
  const error = await unpack(envelope, options).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof Problem)) throw new Error(`not refused by a problem: ${String(error)}`)
  expect(error).toMatchObject({ type: 'error:DIDCommControllerError:UnpackingFailed', status: 422 })
  return error.message
}

/** Expects a refusal whose reason contains a text. */
export async function refuses(
  envelope: string | Uint8Array,
  reason: string,
  options?: UnpackOptions,
): Promise<void> {
  expect(await refusal(envelope, options)).toContain(reason)
}
