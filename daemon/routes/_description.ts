/** The description of the agent, which `/` and `/docs` are for programs. Browsers get a page. */
import * as z from 'zod'
import type { Agent } from '../../src/agent/agent.ts'
import type { Input } from '../http/route.ts'
import { pageMedia, replyInForm, type Page, type Texts, type Views } from '../pages/reply.ts'

const Description = z
  .object({ name: z.string(), description: z.string(), apiDocument: z.url(), health: z.url() })
  .meta({ id: 'AgentDescription' })

export const descriptionContract = {
  extension: true,
  access: 'public',
  media: pageMedia,
  reply: [200, Description],
} as const

type DescriptionInput = Input<typeof descriptionContract & { summary: string; operationId: string }>

export const describe = (
  agent: Agent,
  input: DescriptionInput,
  toPage: (views: Views, texts: Texts) => Page | Promise<Page>,
) =>
  replyInForm(input, {
    read: () => Promise.resolve(agent.env.urls.rest.replace(/\/$/, '')),
    toJson: (url) => ({
      name: 'identity-agent',
      description:
        'An agent for self-sovereign identity, with the API of the Hyperledger Identus Cloud Agent',
      apiDocument: `${url}/docs/openapi.json`,
      health: `${url}/_system/health`,
    }),
    toPage: (_, views, texts) => toPage(views, texts),
  })

/**
 * The last segment of the path of a request target. Empty when the path ends with a slash. Links of a page
 * are relative to it, since a proxy may serve the API below another path.
 */
export const lastPart = (target: string) => target.replace(/\?.*$/s, '').split('/').at(-1)
