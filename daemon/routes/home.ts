/** `/` and the icon: the entry points for a person or a program that has only the agent's address. */
import * as z from 'zod'
import { homePage } from '../pages/home.ts'
import { icon } from '../pages/page.ts'
import { route } from '../http/route.ts'
import { describe, descriptionContract, lastPart } from './_description.ts'

export default [
  route(
    'GET /',
    {
      ...descriptionContract,
      summary: 'Read a description of the agent, with the URL of its API document',
      operationId: 'getAgentDescription',
    },
    ({ agent }, input) => {
      const last = lastPart(input.target)
      return describe(agent, input, () => homePage(last ? `${last}/` : './'))
    },
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
