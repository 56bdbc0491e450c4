/** Writes the files of the API reference at `/docs` into `dist/docs`: compressed, and named by their content. */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'

/**
 * The files in the order in which a page loads them. The bundle of Swagger UI without its layout, which has a
 * bar of its own.
 */
const files = [
  ['1-swagger-ui', 'js', 'node_modules/swagger-ui-dist/swagger-ui-bundle.js'],
  ['2-start', 'js', 'daemon/pages/reference/start.js'],
  ['1-swagger-ui', 'css', 'node_modules/swagger-ui-dist/swagger-ui.css'],
  ['2-style', 'css', 'daemon/pages/reference/style.css'],
]

/** The licences of Swagger UI and of the packages in its bundle. */
const licences = ['NOTICE', 'LICENSE', 'swagger-ui-bundle.js.LICENSE.txt']

export function writeApiPage(root) {
  const folder = `${root}dist/docs`
  mkdirSync(folder)
  for (const [name, end, source] of files) {
    // Browsers would ask for the source maps, which are not served.
    const content = readFileSync(root + source, 'utf8').replace(/\n\/[/*]# sourceMappingURL=.*$/s, '\n')
    const digest = createHash('sha256').update(content).digest('hex').slice(0, 16)
    writeFileSync(`${folder}/${name}.${digest}.${end}.gz`, gzipSync(content, { level: 9 }))
  }
  const texts = licences.map((name) => readFileSync(`${root}node_modules/swagger-ui-dist/${name}`, 'utf8'))
  writeFileSync(`${folder}/LEGAL.txt`, texts.join('\n'))
}
