/** Two tenants of an agent in this process, and a user who runs the commands of both. */
import { startPair, type Tenant } from '../_tenants.ts'
import { newUser } from './_cli.ts'

export async function startCommandedPair() {
  const user = newUser()
  const pair = await startPair()
  const as = ({ apiKey }: Tenant) => user.as({ AGENT_URL: pair.agent.url, AGENT_API_KEY: apiKey })
  return {
    ...pair,
    user,
    /** The commands of a tenant. */
    as,
    async [Symbol.asyncDispose]() {
      await pair[Symbol.asyncDispose]()
      user.remove()
    },
  }
}
