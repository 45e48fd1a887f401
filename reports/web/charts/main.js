import * as echarts from 'echarts/core';
window.e = echarts;
