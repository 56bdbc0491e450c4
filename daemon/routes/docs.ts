/** `/docs`: the API reference for people and the API document for programs. */
import * as z from 'zod'
import type { Agent } from '../../src/agent/agent.ts'
import { Problem } from '../../src/foundation/problem.ts'
import { openapi, type OpenApi } from '../http/openapi.ts'
import { route } from '../http/route.ts'
import { version } from '../http/version.ts'
import { assetMedia, findAsset, openAsset } from '../pages/assets.ts'
import { describe, descriptionContract, lastPart } from './_description.ts'

/** The API documents by agent, built at the first request. */
const documents = new WeakMap<Agent, OpenApi>()

export default [
  route(
    'GET /docs',
    {
      ...descriptionContract,
      summary: 'Open the API reference in a browser; programs get the URL of the API document',
      operationId: 'getDocumentation',
    },
    ({ agent }, input) =>
      describe(agent, input, ({ referencePage }, texts) =>
        referencePage(texts, lastPart(input.target) ? './' : '../'),
      ),
  ),

  route(
    'GET /docs/openapi.json',
    {
      summary: 'Read this document',
      operationId: 'getOpenApiDocument',
      extension: true,
      access: 'public',
      reply: [200, z.looseObject({ openapi: z.literal('3.1.0') })],
    },
    ({ routes, agent }) => {
      const document = documents.get(agent) ?? openapi(routes, { version, url: agent.env.urls.rest })
      documents.set(agent, document)
      return Promise.resolve(document)
    },
  ),

  route(
    'GET /docs/{file}',
    {
      summary: 'Read a file of the API reference',
      operationId: 'getReferenceFile',
      extension: true,
      access: 'public',
      path: { file: z.string().max(100) },
      media: [assetMedia.js, assetMedia.css],
      reply: [200, z.string()],
    },
    async (_, { path: { file }, acceptsEncoding }) => {
      const asset = await findAsset(file)
      if (!asset)
        throw new Problem(
          'error:ResourcePathNotFound',
          `The API reference has no file of this name. GET /docs in a browser is the page.`,
        )
      const encoding = acceptsEncoding('gzip') ? 'gzip' : 'identity'
      const type = assetMedia[asset.end]
      return {
        type,
        body: openAsset(asset, encoding),
        headers: {
          'Content-Type': `${type}; charset=utf-8`,
          ...(encoding === 'gzip' && { 'Content-Encoding': encoding }),
          ETag: `"${asset.digest}-${encoding}"`,
          // The name contains the digest of the content.
          'Cache-Control': 'public, max-age=31536000, immutable',
          Vary: 'Accept-Encoding',
        },
      }
    },
  ),
] as const
