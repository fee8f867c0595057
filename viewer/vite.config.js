// One page without anything beside it: scripts and styles are put inside, so that it opens from a disk, and one string
// in the binary holds all of it.
import {defineConfig} from 'vite';

const inline = {
  name: 'inline-everything',
  enforce: 'post',
  generateBundle(_, bundle) {
    const page = Object.values(bundle).find((file) => file.fileName.endsWith('.html'));
    let text = page.source;
    for (const file of Object.values(bundle)) {
      const name = file.fileName.split('/').pop().replaceAll('.', '\\.');
      if (file.type === 'chunk') {
        const code = file.code.replaceAll('</script', '<\\/script');
        text = text.replace(new RegExp(`<script[^>]*${name}[^>]*></script>`), '');
        text = text.replace('</body>', () => `<script type="module">${code}</script></body>`);
      } else if (file.fileName.endsWith('.css')) {
        text = text.replace(new RegExp(`<link[^>]*${name}[^>]*>`), () => `<style>${file.source}</style>`);
      } else {
        continue;
      }
      delete bundle[file.fileName];
    }
    page.source = text;
  },
};

export default defineConfig({
  base: './',
  build: {target: 'es2022', modulePreload: {polyfill: false}, cssCodeSplit: false, assetsInlineLimit: 1 << 20},
  plugins: [inline],
});
