/** A user with a daemon of the built bundle and a published issuing DID, for the tests of a file. */
import { afterAll, beforeAll } from 'vitest'
import { newUser, type User } from './_cli.ts'

export function serveIssuer(): { user: User; did: string } {
  const issuer = { user: newUser(), did: '' }
  const { run, remove } = issuer.user
  beforeAll(async () => {
    await run`daemon start`
    const { out } = await run`did create --publish --wait --key issue-1:assertionMethod --json`
    issuer.did = (JSON.parse(out) as { did: string }).did
  })
  afterAll(async () => {
    await run`daemon stop`
    remove()
  })
  return issuer
}
