/** Two tenants of an agent in this process, and a user who runs the commands of both. */
import { startPair, type Tenant } from '../_tenants.ts'
import { newUser } from './_cli.ts'

export async function startCommandedPair() {
  const user = newUser()
  const pair = await startPair()
  const as = ({ apiKey }: Tenant) => ({ env: { AGENT_URL: pair.agent.url, AGENT_API_KEY: apiKey } })
  return {
    ...pair,
    user,
    run: (tenant: Tenant, ...args: string[]) => user.run(args, as(tenant)),
    json: (tenant: Tenant, ...args: string[]) => user.json(args, as(tenant)),
    async [Symbol.asyncDispose]() {
      await pair[Symbol.asyncDispose]()
      user.remove()
    },
  }
}
