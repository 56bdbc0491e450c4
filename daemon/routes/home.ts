/** `/`, `/docs` and the icon: the entry points for a person or a program that has only the agent's address. */
import * as z from 'zod'
import type { Agent } from '../../src/agent.ts'
import { homePage } from '../pages/home.ts'
import { icon, pageMedia, replyInForm } from '../pages/page.ts'
import { route, type Input } from '../http/route.ts'

const Description = z
  .object({ name: z.string(), description: z.string(), apiDocument: z.url(), health: z.url() })
  .meta({ id: 'AgentDescription' })

const contract = { access: 'public', media: pageMedia, reply: [200, Description] } as const

/** Replies with the description. `base` is relative to the page, since a proxy may serve the API below another path. */
const describe = (
  agent: Agent,
  { accepts }: Input<typeof contract & { summary: string; operationId: string }>,
  base: string,
) =>
  replyInForm(accepts, {
    read: () => Promise.resolve(agent.env.urls.rest.replace(/\/$/, '')),
    toJson: (url) => ({
      name: 'identity-agent',
      description:
        'An agent for self-sovereign identity, with the API of the Hyperledger Identus Cloud Agent',
      apiDocument: `${url}/docs/openapi.json`,
      health: `${url}/_system/health`,
    }),
    toPage: () => homePage(base),
  })

/** The last segment of a path. Empty when the path ends with a slash. */
const lastPart = (target: string) => target.replace(/\?.*$/s, '').split('/').at(-1)

export default [
  route(
    'GET /',
    {
      ...contract,
      summary: 'Read a description of the agent, with the URL of its API document',
      operationId: 'getAgentDescription',
      extension: true,
    },
    ({ agent }, input) => {
      const last = lastPart(input.target)
      return describe(agent, input, last ? `${last}/` : './')
    },
  ),

  route(
    'GET /docs',
    {
      ...contract,
      summary: 'Read the URL of the API document',
      operationId: 'getDocumentation',
      extension: true,
    },
    ({ agent }, input) => describe(agent, input, lastPart(input.target) ? './' : '../'),
  ),

  route(
    'GET /favicon.ico',
    {
      summary: 'Read the icon of the pages',
      operationId: 'getIcon',
      extension: true,
      access: 'public',
      media: ['image/svg+xml'],
      reply: [200, z.string()],
    },
    () =>
      Promise.resolve({
        type: 'image/svg+xml',
        body: icon,
        headers: { 'Cache-Control': 'public, max-age=86400' },
      }),
  ),
] as const
