/** The entry points for a person or a program that has only the agent's address: `/`, the icon, the client. */
import { createReadStream } from 'node:fs'
import * as z from 'zod'
import { loadViews } from '../pages/reply.ts'
import { route } from '../http/route.ts'
import { describe, descriptionContract, lastPart } from './_description.ts'

const isSource = import.meta.url.endsWith('.ts')
const client = new URL(isSource ? '../../dist/client.js' : '../client.js', import.meta.url)

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
      return describe(agent, input, ({ homePage }, texts) => homePage(texts, last ? `${last}/` : './'))
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
    async () => ({
      type: 'image/svg+xml' as const,
      body: (await loadViews()).icon,
      headers: { 'Cache-Control': 'public, max-age=86400' },
    }),
  ),

  route(
    'GET /client.js',
    {
      summary: 'Read the client for JavaScript: an ES module without imports, for Node.js and browsers',
      operationId: 'getClient',
      extension: true,
      access: 'public',
      media: ['text/javascript'],
      reply: [200, z.string()],
    },
    () =>
      Promise.resolve({
        type: 'text/javascript' as const,
        body: createReadStream(client),
        headers: { 'Content-Type': 'text/javascript; charset=utf-8', 'Cache-Control': 'no-cache' },
      }),
  ),
] as const
