/** The built exports of the package, as programs import them. */
import { fileURLToPath } from 'node:url'

export const dist = fileURLToPath(new URL('../../dist/', import.meta.url))

export const library = (await import(`${dist}index.js`)) as typeof import('../../library/in-process/index.ts')
export const client = (await import(`${dist}client.js`)) as typeof import('../../library/client/index.ts')

/** The error that a promise rejects with. @throws if it does not. */
export async function failureOf(promise: Promise<unknown>): Promise<any> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  )
  if ('error' in outcome) return outcome.error
  throw new Error(`nothing failed: ${JSON.stringify(outcome.value)}`)
}
