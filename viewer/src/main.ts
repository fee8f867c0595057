// One page, two lives: with data inside it is a report that opens from a disk; without it asks the server it came from.
import './style.css';
import {showLive} from './live';
import {byId, startTheme} from './page';
import {showReport} from './report';
import {Stage} from './stage';

const holder = document.getElementById('limber-data');
const stage = new Stage();
startTheme((dark) => stage.view.setDark(dark));
if (location.hash.includes('picture')) document.body.classList.add('picture');
try {
  if (holder) showReport(stage, JSON.parse(holder.textContent ?? ''));
  else showLive(stage);
} catch (error) {
  byId('subtitle').textContent = `cannot show this: ${error instanceof Error ? error.message : error}`;
  throw error;
}
