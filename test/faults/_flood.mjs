/**
 * A tenant that sends as much as it can: requests on each of many connections, the next one as soon as the last one is answered. A process of
 * its own, so that whoever measures the others is not held up by it; ends with its standard input, and prints how many answers of each status came.
 *
 * `node _flood.mjs <url> <apikey> <connections>`
 */
import { Agent, request } from 'node:http'

const [url, apikey, connections] = process.argv.slice(2)
const agent = new Agent({ keepAlive: true, maxSockets: Number(connections) })
const statuses = {}
const over = new AbortController()

const ask = (method) =>
  new Promise((resolve) => {
    const asked = request(
      `${url}/connections?limit=10`,
      { agent, method, headers: { apikey } },
      (response) => {
        response.resume()
        response.once('close', () => resolve(response.statusCode))
      },
    )
    asked.once('error', (error) => resolve(error.code))
    asked.end()
  })

async function askOn(method) {
  while (!over.signal.aborted) {
    const status = await ask(method)
    statuses[status] = (statuses[status] ?? 0) + 1
  }
}

process.stdin.resume().once('end', () => over.abort())
// As whoever is measured: as many that read as that write.
await Promise.all(Array.from({ length: Number(connections) }, (_, n) => askOn(n % 2 === 0 ? 'GET' : 'POST')))
process.stdout.write(JSON.stringify(statuses))
agent.destroy()
